/* Turns a lane and a number into a request. */
#include "model/job.h"

void lane_init(struct world *w, unsigned lane)
{
    memset(w, 0, sizeof *w);
    w->is_sharing = true;
    w->now_us = INT64_C(1700000000) * 1000000;
    w->domain = (struct domain){.n_hash = 3,
                                .hash_from = lane * 3,
                                .n_range = 6,
                                .n_index = 3,
                                .base_s = w->now_us / 1000000 + 100000};
    arena_init(&w->arena, (size_t)1 << 28);
    w->draw = (struct draw){&w->rng, &w->arena, &w->domain};
    for (uint32_t i = 0; i < N_TABLES; i++) {
        w->tables[i].schema = &schemas[i];
        snprintf(w->tables[i].name, sizeof w->tables[i].name, "table-%u", i);
    }
}

void lane_deinit(struct world *w)
{
    for (uint32_t i = 0; i < N_TABLES; i++) model_clear(&w->tables[i]);
    arena_deinit(&w->arena);
}

void job_draw(struct world *w, uint64_t seed, unsigned lane, uint64_t n, struct job *out)
{
    static const enum write_kind kinds[] = {PUT, PUT, UPDATE, UPDATE, DELETE};
    arena_reset(&w->arena);
    rng_init(&w->rng, (seed * 31 + lane) * UINT64_C(0x9e3779b97f4a7c15) + n);
    *out = (struct job){.is_transaction = world_one_in(w, 3), .has_token = world_one_in(w, 2)};
    out->has_token &= out->is_transaction;
    snprintf(out->token, sizeof out->token, "%u-%llu", lane, (unsigned long long)n);
    if (out->is_transaction)
        transaction_draw(w, &out->many);
    else
        planned_draw(w, &out->one, kinds[rng_below(&w->rng, 5)]);
}

sheaf_rc job_call(struct world *w, struct job *j)
{
    sheaf_result *r = NULL;
    sheaf_rc rc = j->is_transaction
                      ? transaction_call(w, &j->many, j->has_token ? j->token : NULL, &r)
                      : planned_call(w, &j->one, SHEAF_RETURN_NONE, &r);
    sheaf_result_free(r);
    return rc;
}

uint64_t job_judge(struct world *w, struct job *j, struct judged *judged)
{
    if (j->is_transaction) return transaction_judge(w, &j->many);
    planned_judge(w, &j->one, judged);
    return planned_answers(judged);
}

void job_commit(struct world *w, const struct job *j, const struct judged *judged)
{
    if (j->is_transaction)
        transaction_commit(w, &j->many);
    else
        planned_commit(w, &j->one, judged);
}
