// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The parts of pages: files of this folder and D3, made into texts when the program is built (embed.py).
 */
#ifndef MOEFABRIC_REPORT_PAGE_H
#define MOEFABRIC_REPORT_PAGE_H

extern const char page_frame[];         /**< page.html: where the others go is marked {title}, {style}, … */
extern const char page_style[];         /**< page.css */
extern const char page_common[];        /**< page.js: what the scripts of all pages use */
extern const char page_library[];       /**< d3.min.js, https://d3js.org, BSD 3-clause */
extern const char page_result_body[];   /**< result.html */
extern const char page_result_script[]; /**< result.js */
extern const char page_sweep_body[];    /**< sweep.html */
extern const char page_sweep_script[];  /**< sweep.js */
extern const char page_train_body[];    /**< train.html */
extern const char page_train_script[];  /**< train.js */

#endif
