-- SPDX-License-Identifier: MIT
-- Siege: two teams, two towers, two kings. A team whose king touches the ground, or is hit too hard, has lost.
--
-- An order "throw DX DY DZ" throws a stone that way. Tags: 1 and 2 are the teams' blocks and kings, 11 and 12 their
-- stones. Session variables: "team.NAME" (1 or 2), "ammo.NAME", "king.1" and "king.2" (health), "phase" ("play" or
-- "over"), "clock" (of the break, once the battle is over: seconds until the next one, which begins by itself).

local THROW_SPEED = 26
local AMMO_MAX = 4
local THROW_TICKS = 60 -- from one stone to the next
local BUTTON_PUSH = 2
local RELOAD_TICKS = 120 -- a stone more every two seconds
local STONE_TICKS = 900 -- stones lie for 15 s
local BREAK_TICKS = 600 -- from one battle to the next
local NEXT = "siege.yaml" -- nil: no next battle
local KING_HEALTH = 100
local ORDER_BYTES_MAX = 96 -- no order of this game is longer
local NAME_MAX = 40 -- bytes of a name that fit into a key
local TOWER_X = 10 -- team 1 stands at -x, team 2 at +x

function on_init()
    state.tick = 0
    state.players = {}
    state.stones = {} -- by body: the tick at which it goes
    state.kings = {}
    state.health = {KING_HEALTH, KING_HEALTH}
    set_var("phase", "play")
    for team = 1, 2 do
        build(team)
        set_var("king." .. team, KING_HEALTH)
    end
end

-- Three floors of four blocks with beams between them; tickets identify the blocks to weld and the king.
function build(team)
    local x = (team == 1) and -TOWER_X or TOWER_X
    for floor = 0, 2 do
        local z = floor * 1.5
        for side = -1, 1, 2 do
            for depth = -1, 1, 2 do
                command.spawn {prototype = "block", position = {x + side, depth, z + 0.5}, tag = team}
            end
            command.spawn {prototype = "beam", position = {x, side, z + 1.25}, tag = team, ticket = 1000 + team * 100 + floor}
        end
    end
    command.spawn {prototype = "king", position = {x, 1, 5.3}, tag = team, ticket = 2000 + team}
end

function on_spawn(body, ticket)
    if ticket > 2000 then
        state.kings[ticket - 2000] = body
    elseif ticket > 1000 then -- the beams of a floor hold together until they are hit hard
        local first = state["beam" .. ticket]
        if first and world.alive(first) then
            command.joint {kind = "weld", a = first, b = body, break_force = 30000, break_torque = 30000}
            state["beam" .. ticket] = nil
        else
            state["beam" .. ticket] = body
        end
    elseif ticket > 0 then
        state.stones[body] = state.tick + STONE_TICKS
    end
end

function on_join(player, name)
    local team = player % 2 + 1 -- places alternate between the sides
    local label = (name ~= "" and #name <= NAME_MAX) and name or ("player " .. player)
    local p = {name = label, team = team, ammo = AMMO_MAX, reload = 0, thrown = -THROW_TICKS}
    state.players[player] = p
    set_var("team." .. p.name, team)
    set_var("ammo." .. p.name, p.ammo)
    local body = world.player_body(player)
    if body then
        command.set_body {body = body, tag = team}
    end
    message(player, "Throw stones at the other tower: its king must fall. You have " .. p.ammo .. ".")
end

function on_leave(player)
    local p = state.players[player]
    if p then
        set_var("team." .. p.name, nil)
        set_var("ammo." .. p.name, nil)
        state.players[player] = nil
    end
end

local function throw(player, dx, dy, dz)
    local p, body = state.players[player], world.player_body(player)
    if not (p and body and dx and dy and dz) or state.over then
        return
    end
    dx, dy, dz = dx + 0.0, dy + 0.0, dz + 0.0 -- integers would wrap around
    local length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if p.ammo == 0 or length < 0.01 or length > 1000 or state.tick - p.thrown < THROW_TICKS then
        return
    end
    p.thrown = state.tick
    local ux, uy, uz = dx / length, dy / length, dz / length
    local x, y, z = world.position(body)
    p.ammo = p.ammo - 1
    set_var("ammo." .. p.name, p.ammo)
    command.spawn {prototype = "stone", position = {x + 1.2 * ux, y + 1.2 * uy, z + 1 + 1.2 * uz},
                   velocity = {THROW_SPEED * ux, THROW_SPEED * uy, THROW_SPEED * uz},
                   tag = 10 + p.team, ticket = player + 1}
end

function on_order(player, text)
    if #text > ORDER_BYTES_MAX then
        return
    end
    local dx, dy, dz = string.match(text, "^throw (%-?[%d.]+) (%-?[%d.]+) (%-?[%d.]+)$")
    throw(player, tonumber(dx), tonumber(dy), tonumber(dz))
end

local function lose(team, how)
    if state.over then
        return
    end
    state.over = "Team " .. (3 - team) .. " wins: the other king " .. how
    state.over_at = state.tick
    set_var("phase", "over")
    message(nil, state.over)
end

local function count_down()
    local left = state.over_at + BREAK_TICKS - state.tick
    if left % 60 == 0 then
        set_var("clock", left // 60)
    end
    if left == 0 then
        end_session(state.over, NEXT)
    end
end

local function hurt(king, impulse)
    for team = 1, 2 do
        if state.kings[team] == king then
            state.health[team] = math.max(0, state.health[team] - impulse // 10)
            set_var("king." .. team, math.tointeger(state.health[team]))
            if state.health[team] <= 0 then
                lose(team, "was struck down")
            end
        end
    end
end

function on_contact(a, b, change, about)
    for team = 1, 2 do
        local king = state.kings[team]
        if change == "begin" and king and (a == king or b == king) then
            local other = (a == king) and b or a
            if world.name(other) == "ground" then
                lose(team, "fell")
            elseif world.tag(other) > 10 then
                hurt(king, about.speed * 20)
            end
        end
    end
end

function on_hit(a, b, impulse)
    if world.tag(a) > 10 then
        hurt(b, impulse)
    elseif world.tag(b) > 10 then
        hurt(a, impulse)
    end
end

-- The ferry crosses the field and turns back at its ends.
local function steer_ferry()
    local ferry = world.find("ferry")
    local _, y = world.position(ferry)
    local _, vy = world.velocity(ferry)
    if (y > 9 and vy > 0) or (y < -9 and vy < 0) then
        command.set_motion {body = ferry, velocity = {0, -vy, 0}}
    end
end

function on_tick()
    state.tick = state.tick + 1
    if state.over then
        count_down()
    end
    steer_ferry()
    for body, goes in pairs(state.stones) do
        if not world.alive(body) then
            state.stones[body] = nil
        elseif state.tick >= goes then
            state.stones[body] = nil
            command.despawn {body = body}
        end
    end
    for player, p in pairs(state.players) do
        local _, _, _, _, buttons = world.controls(player)
        if buttons and buttons & BUTTON_PUSH ~= 0 then -- ahead and up, for players with keys
            throw(player, p.team == 1 and 1 or -1, 0, 0.25)
        end
        p.reload = p.reload + 1
        if p.reload >= RELOAD_TICKS then
            p.reload = 0
            if p.ammo < AMMO_MAX then
                p.ammo = p.ammo + 1
                set_var("ammo." .. p.name, p.ammo)
            end
        end
    end
end
