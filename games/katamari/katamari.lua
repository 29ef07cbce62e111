-- SPDX-License-Identifier: MIT
-- Katamari: a touched cube takes its player's colour; a round lasts ROUND_SECONDS.
--
-- The tag of a body is the number of the player who owns it, plus 1; 0 is nobody's. Session variables: "clock" (seconds
-- left), "phase" ("play" or "over") and, for every player, "score.NAME".

local NAME_MAX = 40 -- bytes of a name that fit into a key
local ROUND_SECONDS = 120
local FADE_TICKS = 20 * 60 -- a cube that nobody touches is nobody's after 20 s

-- Everything that must survive a resume lies in `state`.
function on_init()
    state.ticks = 0
    state.score = {} -- by player: cubes owned
    state.name = {} -- by player
    state.owned = {} -- by cube: the tick at which it was last touched
    set_var("phase", "play")
    set_var("clock", ROUND_SECONDS)
end

local function show_score(player)
    set_var("score." .. state.name[player], state.score[player])
end

function on_join(player, name)
    state.name[player] = (name ~= "" and #name <= NAME_MAX) and name or ("player " .. player)
    state.score[player] = 0
    show_score(player)
    message(player, "Touch cubes: they take your colour. Who has most after " .. ROUND_SECONDS .. " seconds wins.")
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
end

-- The player who drives the body, nil if none does.
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
    state.over = true
    set_var("phase", "over")
    message(nil, winner .. " wins with " .. math.max(best, 0) .. " cubes")
    command["end"] {reason = winner .. " wins with " .. math.max(best, 0) .. " cubes"}
end

function on_tick()
    state.ticks = state.ticks + 1
    if state.over or state.ticks % 60 ~= 0 then
        return
    end
    fade()
    local left = ROUND_SECONDS - state.ticks // 60
    set_var("clock", left)
    if left <= 0 then
        finish()
    end
end
