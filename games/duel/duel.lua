-- SPDX-License-Identifier: MIT
-- Duel: shots hit at once. Three hits are a point; five points win, or most of them after MATCH_SECONDS.
--
-- A client shows the others as they were about a fifth of a second ago. A shot is judged there: `history` is the world
-- as its player saw it. The effect of a hit is a command, which acts now. Session variables: "score.NAME", "hp.NAME",
-- "shots", "hits", "past" (hits that the present would have missed), "clock" (seconds left; of the break, once the
-- match is over), "phase" ("waiting", "play" or "over"). The clock starts with the first player. After a break the next
-- match begins by itself: the session ends and names NEXT.

local NAME_MAX = 40 -- bytes of a name that fit into a key
local HEALTH = 3
local POINTS_TO_WIN = 5
local MATCH_SECONDS = 300
local BREAK_SECONDS = 10
local NEXT = "duel.yaml" -- nil: no next match
local RANGE = 40
local RELOAD_TICKS = 40
local PUSH = 120 -- N s, of a shot
local SHOOT = 1 -- the button
local ORDER_BYTES_MAX = 64 -- no order of this game is longer
local STARTS = {{-8, -6}, {8, 6}, {-8, 6}, {8, -6}, {0, 7}, {0, -7}, {-9, 0}, {9, 0}}

function on_init()
    state.tick = 0
    state.players = {}
    state.counts = {shots = 0, hits = 0, past = 0}
    state.left = MATCH_SECONDS * 60 -- ticks until the match, or the break, is over
    set_var("phase", "waiting")
    set_var("clock", MATCH_SECONDS)
end

local function count(what)
    state.counts[what] = state.counts[what] + 1
    set_var(what, state.counts[what])
end

function on_join(player, name)
    if state.over then
        return false, "the match is over; the next one begins in some seconds"
    end
    if not state.playing then
        state.playing = true
        set_var("phase", "play")
    end
    local p = {score = 0, health = HEALTH, ready = state.tick}
    p.name = (name ~= "" and #name <= NAME_MAX) and name or ("player " .. player)
    state.players[player] = p
    set_var("score." .. p.name, 0)
    set_var("hp." .. p.name, HEALTH)
    message(player, "Three hits are a point. Five points win.")
end

function on_leave(player)
    local p = state.players[player]
    if p then
        set_var("score." .. p.name, nil)
        set_var("hp." .. p.name, nil)
        state.players[player] = nil
    end
    if not next(state.players) and state.playing then
        state.playing = nil
        state.left = MATCH_SECONDS * 60
        set_var("phase", "waiting")
        set_var("clock", MATCH_SECONDS)
    end
end

-- The player of a body; nil for walls, and for bodies that are gone.
local function owner(body)
    for player in pairs(state.players) do
        if world.player_body(player) == body then
            return player
        end
    end
end

local function start_again(player, p)
    local start = STARTS[math.random(#STARTS)]
    p.health = HEALTH
    command.set_motion {body = world.player_body(player), position = {start[1], start[2], 0.5},
                        velocity = {0, 0, 0}, teleport = 1}
end

local function win(p)
    state.over = p and p.name .. " wins the duel" or "nobody wins the duel"
    state.playing = nil
    state.left = BREAK_SECONDS * 60
    set_var("phase", "over")
    set_var("clock", BREAK_SECONDS)
    message(nil, state.over)
end

-- Runs the clock. At its end the player with the most points wins.
local function count_down()
    if not state.playing and not state.over then
        return
    end
    state.left = state.left - 1
    if state.left % 60 == 0 then
        set_var("clock", state.left // 60)
    end
    if state.left == 0 and state.over then
        end_session(state.over, NEXT)
    elseif state.left == 0 then
        local best
        for _, p in pairs(state.players) do
            if p.score > (best and best.score or 0) then
                best = p
            end
        end
        win(best)
    end
end

local function strike(player, victim, dx, dy)
    local p, q = state.players[player], state.players[victim]
    q.health = q.health - 1
    if q.health > 0 then
        command.impulse {body = world.player_body(victim), linear = {PUSH * dx, PUSH * dy, 0}}
    else
        start_again(victim, q)
        p.score = p.score + 1
        set_var("score." .. p.name, p.score)
        message(nil, p.name .. " shot " .. q.name)
        if p.score >= POINTS_TO_WIN then
            win(p)
        end
    end
    set_var("hp." .. q.name, q.health)
end

-- Shoots from where the player saw itself, at what it saw there.
local function shoot(player, dx, dy)
    local p, me = state.players[player], world.player_body(player)
    local length = math.sqrt(dx * dx + dy * dy)
    if not p or not me or length == 0 or state.over or state.tick < p.ready then
        return
    end
    local x, y, z = history.position(player, me)
    if not x then
        return -- the player was not there yet
    end
    dx, dy = dx / length, dy / length
    p.ready = state.tick + RELOAD_TICKS
    count("shots")
    local body = history.raycast(player, x, y, z, dx, dy, 0, RANGE, me)
    local victim = body and owner(body)
    if not victim then
        return
    end
    count("hits")
    if world.raycast(x, y, z, dx, dy, 0, RANGE, me) ~= body then
        count("past")
    end
    strike(player, victim, dx, dy)
end

-- "shoot DX DY", for programs that aim more finely than an axis does.
function on_order(player, text)
    if #text > ORDER_BYTES_MAX then
        return
    end
    local dx, dy = string.match(text, "^shoot (%-?[%d.]+) (%-?[%d.]+)$")
    dx, dy = tonumber(dx), tonumber(dy)
    if dx and dy and math.abs(dx) <= 1 and math.abs(dy) <= 1 then
        shoot(player, dx, dy)
    end
end

-- The fourth axis turns the gun: a full turn from -127 to 127. At 0 it points where its player walks.
function on_tick()
    state.tick = state.tick + 1
    count_down()
    for player in pairs(state.players) do
        local ax, ay, _, turn, buttons = world.controls(player)
        if buttons & SHOOT ~= 0 then
            if turn ~= 0 then
                local angle = turn * math.pi / 127
                ax, ay = math.cos(angle), math.sin(angle)
            end
            shoot(player, ax, ay)
        end
    end
end
