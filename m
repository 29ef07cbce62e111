ERROR half_size_along : ValueError('not enough values to unpack (expected 2, got 1)')
tools/view/view.c scene_extent 28, draw_plane 32
