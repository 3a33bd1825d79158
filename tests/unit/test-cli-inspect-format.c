/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/inspect-format.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>

struct ns_row {
	double ns;
	char text[24];
};

ParameterizedTestParameters(format, gives_times_three_digits_and_a_unit)
{
	static struct ns_row rows[] = {
		{0, "0 ns"},
		{7, "7 ns"},
		{999, "999 ns"},
		{12.34, "12.3 ns"},
		{0.25, "0.25 ns"},
		{999.4, "999 ns"},
		{999.6, "1.00 us"},
		{1000, "1.00 us"},
		{1234, "1.23 us"},
		{9995, "10.0 us"},
		{99949, "99.9 us"},
		{99951, "100 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{12345678, "12.3 ms"},
		{1e9, "1.00 s"},
		{999.4e9, "999 s"},
		{999.6e9, "1,000 s"},
		{36000e9, "36,000 s"},
		{9.223372036854775807e18, "9,223,372,037 s"},
		{NAN, "-"},
	};

	return cr_make_param_array(struct ns_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct ns_row *row, format, gives_times_three_digits_and_a_unit)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_ns(buf, row->ns), row->text);
}

Test(format, marks_estimates_with_a_tilde)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_estimate(buf, 1234, true), "1.23 us");
	cr_expect_str_eq(cm_format_estimate(buf, 1234, false), "~1.23 us");
	cr_expect_str_eq(cm_format_estimate(buf, NAN, false), "-");
}

Test(format, separates_thousands_and_keeps_every_digit)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_count(buf, 0), "0");
	cr_expect_str_eq(cm_format_count(buf, 999), "999");
	cr_expect_str_eq(cm_format_count(buf, 1000), "1,000");
	cr_expect_str_eq(cm_format_count(buf, 3524578), "3,524,578");
	cr_expect_str_eq(cm_format_count(buf, UINT64_MAX), "18,446,744,073,709,551,615");
}

Test(format, never_rounds_a_share_into_a_lie)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_share(buf, 0, true), "0.0%");
	cr_expect_str_eq(cm_format_share(buf, 0.453, true), "45.3%");
	cr_expect_str_eq(cm_format_share(buf, 0.00001, true), "<0.1%");
	cr_expect_str_eq(cm_format_share(buf, 1, true), "100%");
	cr_expect_str_eq(cm_format_share(buf, 3.5, true), ">100%");
	cr_expect_str_eq(cm_format_share(buf, NAN, true), "-");
	cr_expect_str_eq(cm_format_share(buf, 0.5, false), "~50.0%");
	cr_expect_str_eq(cm_format_share(buf, 0.0001, false), "<0.1%");
	cr_expect_str_eq(cm_format_share(buf, NAN, false), "-");
}

Test(format, writes_events_exactly_where_they_are_whole)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_event(buf, 70478340), "70478340");
	cr_expect_str_eq(cm_format_event(buf, 0x1p53), "9007199254740992");
	cr_expect_str_eq(cm_format_event(buf, -3), "-3");
	cr_expect_str_eq(cm_format_event(buf, 0), "0");
	cr_expect_str_eq(cm_format_event(buf, 12.3456789), "12.3457");
	cr_expect_str_eq(cm_format_event(buf, 1e300), "1e+300");
	cr_expect_str_eq(cm_format_event(buf, -NAN), "nan");
}

Test(format, gives_metrics_six_digits)
{
	char buf[CM_FORMAT_BYTES];

	cr_expect_str_eq(cm_format_metric(buf, 2376.1749), "2376.17");
	cr_expect_str_eq(cm_format_metric(buf, 0.0000123456789), "1.23457e-05");
	cr_expect_str_eq(cm_format_metric(buf, 3), "3");
	cr_expect_str_eq(cm_format_metric(buf, NAN), "nan");
	cr_expect_str_eq(cm_format_metric(buf, -INFINITY), "-inf");
}

Test(format, writes_reals_that_read_back_the_same)
{
	static const double values[] = {0.1,	    1.0 / 3,
					5e-324,	    1.7976931348623157e308,
					0x1p53 + 2, 123456789012345678.0,
					-0.0,	    0.30000000000000004};
	char buf[CM_FORMAT_BYTES];
	size_t i;

	cr_expect_str_eq(cm_format_exact(buf, 0.1), "0.1");
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cr_expect_eq(strtod(cm_format_exact(buf, values[i]), NULL), values[i], "%s", buf);
	cr_expect_str_eq(cm_format_exact(buf, INFINITY), "inf");
}
