#pragma once

#include "alidade/problem/catalogue.hpp"

namespace alidade::detail {

Family garnet_family();
Family needle_family();
Family riverswim_family();
Family lock_family();
Family chain_family();
Family inventory_family();
Family gridworld_family();
Family reservoir_family();
Family queue_family();
Family epidemic_family();
Family fishery_family();
Family hard_family();
Family hard_simplex_family();
Family hard_short_family();
Family linear_random_family();
Family linear_lock_family();
Family linear_grid_family();

}  // namespace alidade::detail
