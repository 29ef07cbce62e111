// SPDX-License-Identifier: MIT
// foliot.h: everything, in the order of the data's way.
#ifndef FOLIOT_FOLIOT_H
#define FOLIOT_FOLIOT_H

#include "foliot/status.h"
#include "foliot/version.h"
#include "foliot/math.h"
#include "foliot/input.h"
#include "foliot/integrator.h"
#include "foliot/scene.h"
#include "foliot/scene_reader.h"
#include "foliot/world.h"
#include "foliot/contact.h"
#include "foliot/query.h"
#include "foliot/digest.h"
#include "foliot/simulation.h"
#include "foliot/divergence.h"
#include "foliot/harness.h"
#include "foliot/lockstep.h"
#include "foliot/recording.h"
#include "foliot/replay.h"

#endif
