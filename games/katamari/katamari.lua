-- SPDX-License-Identifier: MIT
-- Katamari: a touched cube takes its player's colour; a round lasts ROUND_SECONDS.
--
-- The tag of a body is the number of the player who owns it, plus 1; 0 is nobody's. Session variables: "clock" (seconds
-- left; of the break, once the round is over), "phase" ("waiting", "play" or "over") and, for every player,
-- "score.NAME".
--
-- The clock starts with the first player and stops while nobody plays. After a break the next round begins by itself:
-- the session ends and names NEXT, which the server hosts under the same name.

local NAME_MAX = 40 -- bytes of a name that fit into a key
local ROUND_SECONDS = 120
local BREAK_SECONDS = 10
local NEXT = "katamari.yaml" -- nil: no next round
local FADE_TICKS = 20 * 60 -- a cube that nobody touches is nobody's after 20 s

-- Everything that must survive a resume is in `state`.
function on_init()
    state.ticks = 0
    state.score = {} -- by player: cubes owned
    state.name = {} -- by player
    state.owned = {} -- by cube: the tick at which it was last touched
    state.left = ROUND_SECONDS * 60 -- ticks until the round, or the break, is over
    set_var("phase", "waiting")
    set_var("clock", ROUND_SECONDS)
end

local function show_score(player)
    set_var("score." .. state.name[player], state.score[player])
end

function on_join(player, name)
    state.name[player] = (name ~= "" and #name <= NAME_MAX) and name or ("player " .. player)
    state.score[player] = 0
    show_score(player)
    if not state.playing and not state.over then
        state.playing = true
        set_var("phase", "play")
    end
    message(player, "Touch cubes: they take your colour. The player with the most after " .. ROUND_SECONDS .. " seconds wins.")
end

local function set_owner(cube, player)
    local before = world.tag(cube)
    command.set_body {body = cube, tag = player and player + 1 or 0}
    if before > 0 and state.score[before - 1] then
        state.score[before - 1] = state.score[before - 1] - 1
        show_score(before - 1)
    end
    if player then
        state.score[player] = state.score[player] + 1
        show_score(player)
        state.owned[cube] = state.ticks
    else
        state.owned[cube] = nil
    end
end

function on_leave(player)
    for cube in pairs(state.owned) do
        if world.tag(cube) == player + 1 then
            set_owner(cube, nil)
        end
    end
    set_var("score." .. state.name[player], nil)
    state.name[player], state.score[player] = nil, nil
    if not next(state.name) and state.playing then -- the next player has a whole round
        state.playing = nil
        state.left = ROUND_SECONDS * 60
        set_var("phase", "waiting")
        set_var("clock", ROUND_SECONDS)
    end
end

-- The player of a body; nil if it has none.
local function driver(body)
    for _, player in ipairs(world.players()) do
        if world.player_body(player) == body and state.score[player] then
            return player
        end
    end
end

local function is_cube(body)
    return world.mass(body) == 64
end

function on_contact(a, b, change)
    if change ~= "begin" or state.over then
        return
    end
    if is_cube(a) and not is_cube(b) then
        a, b = b, a
    end
    if not is_cube(b) then
        return
    end
    local player = driver(a)
    if not player then
        return
    end
    if world.tag(b) == player + 1 then
        state.owned[b] = state.ticks
    else
        set_owner(b, player)
    end
end

local function fade()
    for cube, touched in pairs(state.owned) do
        if state.ticks - touched > FADE_TICKS then
            set_owner(cube, nil)
        end
    end
end

local function finish()
    local best, winner = -1, "nobody"
    for player, score in pairs(state.score) do
        if score > best then
            best, winner = score, state.name[player]
        end
    end
    state.over = winner .. " wins with " .. math.max(best, 0) .. " cubes"
    state.playing = nil
    state.left = BREAK_SECONDS * 60
    set_var("phase", "over")
    set_var("clock", BREAK_SECONDS)
    message(nil, state.over)
end

function on_tick()
    state.ticks = state.ticks + 1
    if not state.playing and not state.over then
        return
    end
    state.left = state.left - 1
    if state.left % 60 ~= 0 then
        return
    end
    set_var("clock", state.left // 60)
    if state.playing then
        fade()
    end
    if state.left == 0 and state.over then
        end_session(state.over, NEXT)
    elseif state.left == 0 then
        finish()
    end
end
