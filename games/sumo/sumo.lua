-- SPDX-License-Identifier: MIT
-- Sumo: push the others off the platform. The last to push gets the point; five points win, or most of them after
-- MATCH_SECONDS.
--
-- Players join without bodies (`bodiless`): these rules spawn them, and spawn them again after a fall. A boost makes
-- its finder a giant for some seconds. The tag of a wrestler is its player's number plus 1. Session variables:
-- "score.NAME", "clock" (seconds left; of the break, once the match is over), "phase" ("waiting", "play" or "over").
--
-- The clock starts with the first player. After a break the next match begins by itself: the session ends and names
-- NEXT.

local NAME_MAX = 40 -- bytes of a name that fit into a key
local POINTS_TO_WIN = 5
local MATCH_SECONDS = 300
local BREAK_SECONDS = 10
local NEXT = "sumo.yaml" -- nil: no next match
local RADIUS = 4 -- where wrestlers start
local RESPAWN_TICKS = 90
local BLAME_TICKS = 300 -- a push counts for 5 s
local BOOST_TICKS = 600 -- from one boost to the next
local GIANT_TICKS = 480

function on_init()
    state.tick = 0
    state.players = {}
    state.boost_at = BOOST_TICKS
    state.left = MATCH_SECONDS * 60 -- ticks until the match, or the break, is over
    set_var("phase", "waiting")
    set_var("clock", MATCH_SECONDS)
end

-- Returns a place on the ring of starts, another one at each call.
local function start_place()
    local angle = math.random() * 6.2831853
    return {RADIUS * math.cos(angle), RADIUS * math.sin(angle), 1.2}
end

local function spawn_wrestler(player, prototype, place, velocity)
    command.spawn {prototype = prototype, position = place, velocity = velocity or {0, 0, 0},
                   tag = player + 1, ticket = player + 1}
end

function on_join(player, name)
    if state.over then
        return false, "the match is over; the next one begins in some seconds"
    end
    if not state.playing then
        state.playing = true
        set_var("phase", "play")
    end
    state.players[player] = {name = (name ~= "" and #name <= NAME_MAX) and name or ("player " .. player), score = 0, spawn_at = state.tick + 1}
    set_var("score." .. state.players[player].name, 0)
    message(player, "Push the others off the platform. Five points win.")
end

function on_leave(player)
    local p = state.players[player]
    if not p then
        return
    end
    if p.body and world.alive(p.body) then
        command.despawn {body = p.body}
    end
    set_var("score." .. p.name, nil)
    state.players[player] = nil
    if not next(state.players) and state.playing then
        state.playing = nil
        state.left = MATCH_SECONDS * 60
        set_var("phase", "waiting")
        set_var("clock", MATCH_SECONDS)
    end
end

-- The ticket of a wrestler is its player's number plus 1.
function on_spawn(body, ticket)
    local p = state.players[ticket - 1]
    if ticket > 0 and p then
        p.body = body
        command.control {player = ticket - 1, body = body}
    end
end

-- A place was taken: try another one at once.
function on_refused(sequence, reason)
    for _, p in pairs(state.players) do
        if not p.body and not p.spawn_at then
            p.spawn_at = state.tick + 1
        end
    end
end

-- The wrestler's entry and its player's number; nil for other bodies, and for those that are gone.
local function owner(body)
    local player = (world.tag(body) or 0) - 1
    local p = state.players[player]
    if p and p.body == body then
        return p, player
    end
end

function on_contact(a, b, change)
    local one, first = owner(a)
    local other, second = owner(b)
    if change == "begin" and one and other then
        one.pushed_by, one.pushed_at = second, state.tick
        other.pushed_by, other.pushed_at = first, state.tick
    end
end

local function win(p)
    state.over = p and p.name .. " wins the match" or "nobody wins the match"
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

local function fall(p)
    command.despawn {body = p.body}
    p.body, p.giant_until = nil, nil
    p.spawn_at = state.tick + RESPAWN_TICKS
    local pusher = p.pushed_by and state.players[p.pushed_by]
    if pusher and state.tick - p.pushed_at < BLAME_TICKS then
        pusher.score = pusher.score + 1
        set_var("score." .. pusher.name, pusher.score)
        message(nil, pusher.name .. " pushed " .. p.name .. " off")
        if pusher.score >= POINTS_TO_WIN then
            win(pusher)
        end
    else
        message(nil, p.name .. " fell")
    end
    p.pushed_by = nil
end

-- Another body at the same place with the same motion.
local function change_body(player, p, prototype, lift)
    local x, y, z = world.position(p.body)
    local vx, vy, vz = world.velocity(p.body)
    command.despawn {body = p.body}
    p.body = nil
    spawn_wrestler(player, prototype, {x, y, z + lift}, {vx, vy, vz})
end

-- A wrestler that enters the abyss falls; one that enters a boost grows.
function on_sensor(sensor, body, entered)
    local p, player = owner(body)
    if not entered or not p or state.over then
        return
    end
    if world.name(sensor) == "abyss" then
        fall(p)
    elseif world.tag(sensor) == 100 and not p.giant_until then
        command.despawn {body = sensor}
        p.giant_until = state.tick + GIANT_TICKS
        change_body(player, p, "giant", 0.5)
    end
end

function on_tick()
    state.tick = state.tick + 1
    count_down()
    if state.over then
        return
    end
    for player, p in pairs(state.players) do
        if p.spawn_at and state.tick >= p.spawn_at then
            p.spawn_at = nil
            spawn_wrestler(player, "wrestler", start_place())
        elseif p.giant_until and p.body and state.tick >= p.giant_until then
            p.giant_until = nil
            change_body(player, p, "wrestler", 0)
        end
    end
    if state.tick >= state.boost_at then
        state.boost_at = state.tick + BOOST_TICKS
        local place = start_place()
        place[3] = 0.8
        command.spawn {prototype = "boost", position = {place[1] / 3, place[2] / 3, place[3]}}
    end
end
