// SPDX-License-Identifier: MIT
// foliot.h: the whole library in one include. Each header below also stands alone.
#ifndef FOLIOT_FOLIOT_H
#define FOLIOT_FOLIOT_H

#include "foliot/admin.h"
#include "foliot/client.h"
#include "foliot/command.h"
#include "foliot/contact.h"
#include "foliot/digest.h"
#include "foliot/divergence.h"
#include "foliot/harness.h"
#include "foliot/history.h"
#include "foliot/input.h"
#include "foliot/integrator.h"
#include "foliot/lockstep.h"
#include "foliot/math.h"
#include "foliot/query.h"
#include "foliot/recording.h"
#include "foliot/replay.h"
#include "foliot/rules.h"
#include "foliot/scene.h"
#include "foliot/scene_reader.h"
#include "foliot/server.h"
#include "foliot/signature.h"
#include "foliot/simulation.h"
#include "foliot/simulation_module.h"
#include "foliot/snapshot.h"
#include "foliot/status.h"
#include "foliot/token.h"
#include "foliot/transport.h"
#include "foliot/version.h"
#include "foliot/world.h"

#endif
