// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The parts of the page that are the same in every report: files of this folder and D3, made into texts when the program is built (embed.py).
 */
#ifndef MOEFABRIC_REPORT_PAGE_H
#define MOEFABRIC_REPORT_PAGE_H

extern const char page_template[];       /**< page.html: holds the marks {style}, {library}, {data} and {script} */
extern const char page_style[];          /**< page.css */
extern const char page_script[];         /**< page.js */
extern const char page_sweep_template[]; /**< sweep.html: the same marks */
extern const char page_sweep_script[];   /**< sweep.js */
extern const char page_train_template[]; /**< train.html: the same marks */
extern const char page_train_script[];   /**< train.js */
extern const char page_library[];        /**< d3.min.js, https://d3js.org, BSD 3-clause */

#endif
