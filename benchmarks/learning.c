/* Algorithm 1 with epsilon = 1 in a deterministic world: the loop that benchmarks/learning.py
   compares with.  Same random numbers, same order of updates, same table. */
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *state) {
    uint64_t s0 = state[0], s1 = state[1], result = s0 + s1;
    s1 ^= s0;
    state[0] = rotated(s0, 24) ^ s1 ^ (s1 << 16);
    state[1] = rotated(s1, 37);
    return (double)(result >> 11) * 0x1.0p-53;
}

void learn(const int32_t *next_state, const double *step_reward, const int32_t *goal_of_state,
           const double *goal_reward, const int32_t *starts, double *q, uint64_t *stream,
           int64_t n_starts, int64_t n_states, int64_t n_goals, int64_t n_actions, int64_t n_steps,
           double r_bar_min, double alpha, double gamma) {
    bool met[256] = {false};
    int32_t seen[256];
    int64_t n_seen = 0, s = -1;
    (void)n_states;
    for (int64_t step = 0; step < n_steps; step++) {
        if (s < 0) s = starts[(int64_t)(uniform(stream) * n_starts)];
        int64_t a = (int64_t)(uniform(stream) * n_actions);
        int32_t end = goal_of_state[s];
        if (end >= 0) {
            for (int64_t i = 0; i < n_seen; i++) {
                double target = seen[i] == end ? goal_reward[end] : r_bar_min;
                double *entry = q + (s * n_goals + seen[i]) * n_actions + a;
                *entry = (1.0 - alpha) * *entry + alpha * target;
            }
            if (!met[end]) {
                met[end] = true;
                seen[n_seen++] = end;
            }
            s = -1;
            continue;
        }
        int64_t t = next_state[s * n_actions + a];
        double reward = step_reward[s * n_actions + a];
        for (int64_t i = 0; i < n_seen; i++) {
            const double *row = q + (t * n_goals + seen[i]) * n_actions;
            double best = row[0];
            for (int64_t b = 1; b < n_actions; b++) best = row[b] > best ? row[b] : best;
            double *entry = q + (s * n_goals + seen[i]) * n_actions + a;
            *entry = (1.0 - alpha) * *entry + alpha * (reward + gamma * best);
        }
        s = t;
    }
}
