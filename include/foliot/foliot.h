// SPDX-License-Identifier: MIT
// foliot.h: the whole library in one include. Each header below also stands alone.
#ifndef FOLIOT_FOLIOT_H
#define FOLIOT_FOLIOT_H

#include "foliot/client.h"
#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/divergence.h"
#include "foliot/query.h"
#include "foliot/recording.h"
#include "foliot/replay.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "foliot/simulation.h"
#include "foliot/snapshot.h"
#include "foliot/status.h"
#include "foliot/token.h"
#include "foliot/transport.h"
#include "foliot/world.h"

#endif
