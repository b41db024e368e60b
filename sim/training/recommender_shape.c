// SPDX-License-Identifier: GPL-3.0-or-later
#include "training/recommender_shape.h"

#include <stddef.h>
#include <string.h>

enum { CROSS_MATRICES = 2 /* of low rank: to it and back */ };

/* mlcommons/training recommendation_v2/torchrec_dlrm/README.MD (3e2f731): num_embeddings_per_feature and multi_hot_sizes. */
static const struct recommender_table dlrm_tables[] = {
    {40000000, 3},  {39060, 2},   {17295, 1},    {7424, 2},    {20265, 6},  {3, 1},         {7122, 1},
    {1543, 1},      {63, 1},      {40000000, 7}, {3067956, 3}, {405282, 8}, {10, 1},        {2209, 6},
    {11938, 9},     {155, 5},     {4, 1},        {976, 1},     {14, 1},     {40000000, 12}, {40000000, 100},
    {40000000, 27}, {590152, 10}, {12973, 3},    {108, 1},     {36, 1},
};
static const uint32_t dlrm_bottom[] = {512, 256, 128, 0};
static const uint32_t dlrm_top[] = {1024, 1024, 512, 256, 1, 0};

static const struct recommender_shape shapes[] = {
    {.name = "dlrm-dcnv2",
     .tables = dlrm_tables,
     .n_tables = sizeof dlrm_tables / sizeof dlrm_tables[0],
     .width = 128,
     .features = 13,
     .bottom = dlrm_bottom,
     .top = dlrm_top,
     .cross_layers = 3,
     .cross_width = 512,
     .source =
         "mlcommons/training recommendation_v2/torchrec_dlrm/README.MD (3e2f731): the benchmark's command; 13 dense "
         "features: dlrm_main.py"},
};

const char *const recommender_shape_names[] = {"dlrm-dcnv2", NULL};

const struct recommender_shape *recommender_shape_find(const char *preset) {
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (strcmp(shapes[i].name, preset) == 0) {
            return &shapes[i];
        }
    }
    return NULL;
}

uint32_t recommender_shape_looked_up(const struct recommender_shape *shape) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < shape->n_tables; i++) {
        sum += shape->tables[i].looked_up;
    }
    return sum;
}

/* Inputs of the cross network: a vector of each table, and one of the bottom layers. */
static double crossed(const struct recommender_shape *shape) {
    return (double)(shape->n_tables + 1) * shape->width;
}

/* Elements of the matrices of layers, and of all their outputs. */
static double matrices(double inputs, const uint32_t *outputs, double *added) {
    double sum = 0;
    *added = 0;
    for (; *outputs > 0; outputs++) {
        sum += inputs * *outputs;
        *added += *outputs;
        inputs = *outputs;
    }
    return sum;
}

struct recommender_operations recommender_shape_operations(const struct recommender_shape *shape) {
    double added;
    return (struct recommender_operations){
        .bottom = 2 * matrices(shape->features, shape->bottom, &added),
        .crossing = 2.0 * shape->cross_layers * CROSS_MATRICES * crossed(shape) * shape->cross_width,
        .top = 2 * matrices(crossed(shape), shape->top, &added),
    };
}

uint32_t recommender_shape_layers(const struct recommender_shape *shape) {
    uint32_t layers = CROSS_MATRICES * shape->cross_layers;
    for (const uint32_t *outputs = shape->bottom; *outputs > 0; outputs++) {
        layers++;
    }
    for (const uint32_t *outputs = shape->top; *outputs > 0; outputs++) {
        layers++;
    }
    return layers;
}

double recommender_shape_dense(const struct recommender_shape *shape) {
    const struct recommender_operations operations = recommender_shape_operations(shape);
    double bottom, top;
    matrices(shape->features, shape->bottom, &bottom);
    matrices(crossed(shape), shape->top, &top);
    return (operations.bottom + operations.crossing + operations.top) / 2 + bottom + top +
           shape->cross_layers * crossed(shape);
}

double recommender_shape_embeddings(const struct recommender_shape *shape) {
    double rows = 0;
    for (uint32_t i = 0; i < shape->n_tables; i++) {
        rows += shape->tables[i].rows;
    }
    return rows * shape->width;
}
