build-fma/obj/client/main.o: client/main.c common/base/exit_code.h \
 common/base/json.h common/base/options.h common/base/terminal.h \
 client/bot.h common/base/rng.h include/foliot/input.h \
 common/tape/input_script.h include/foliot/status.h client/fault.h \
 include/foliot/client.h include/foliot/lockstep.h \
 include/foliot/divergence.h include/foliot/simulation.h \
 include/foliot/digest.h include/foliot/world.h include/foliot/scene.h \
 include/foliot/integrator.h include/foliot/transport.h \
 common/tape/perturb.h include/foliot/replay.h include/foliot/foliot.h \
 include/foliot/version.h include/foliot/math.h \
 include/foliot/scene_reader.h include/foliot/harness.h \
 include/foliot/recording.h client/screen.h
common/base/exit_code.h:
common/base/json.h:
common/base/options.h:
common/base/terminal.h:
client/bot.h:
common/base/rng.h:
include/foliot/input.h:
common/tape/input_script.h:
include/foliot/status.h:
client/fault.h:
include/foliot/client.h:
include/foliot/lockstep.h:
include/foliot/divergence.h:
include/foliot/simulation.h:
include/foliot/digest.h:
include/foliot/world.h:
include/foliot/scene.h:
include/foliot/integrator.h:
include/foliot/transport.h:
common/tape/perturb.h:
include/foliot/replay.h:
include/foliot/foliot.h:
include/foliot/version.h:
include/foliot/math.h:
include/foliot/scene_reader.h:
include/foliot/harness.h:
include/foliot/recording.h:
client/screen.h:
