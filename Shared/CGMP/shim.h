#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <gmp.h>
#include <mpfr.h>

// The names of GMP are macros, which Swift does not see: these are the calls that are used, under names of their own.

static inline void cgmp_mpz_init(mpz_ptr z) { mpz_init(z); }
static inline void cgmp_mpz_clear(mpz_ptr z) { mpz_clear(z); }
static inline void cgmp_mpz_set(mpz_ptr z, mpz_srcptr a) { mpz_set(z, a); }
static inline void cgmp_mpz_set_si(mpz_ptr z, long a) { mpz_set_si(z, a); }
static inline int cgmp_mpz_set_str(mpz_ptr z, const char *digits, int base) { return mpz_set_str(z, digits, base); }
static inline void cgmp_mpz_get_str(char *digits, mpz_srcptr z) { mpz_get_str(digits, 10, z); }
static inline size_t cgmp_mpz_sizeinbase(mpz_srcptr z, int base) { return mpz_sizeinbase(z, base); }
static inline int cgmp_mpz_sgn(mpz_srcptr z) { return mpz_sgn(z); }
static inline int cgmp_mpz_cmp(mpz_srcptr a, mpz_srcptr b) { return mpz_cmp(a, b); }
static inline int cgmp_mpz_fits_slong(mpz_srcptr z) { return mpz_fits_slong_p(z) != 0; }
static inline long cgmp_mpz_get_si(mpz_srcptr z) { return mpz_get_si(z); }
static inline double cgmp_mpz_get_d_2exp(long *exponent, mpz_srcptr z) { return mpz_get_d_2exp(exponent, z); }
static inline void cgmp_mpz_add(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_add(z, a, b); }
static inline void cgmp_mpz_add_ui(mpz_ptr z, mpz_srcptr a, unsigned long b) { mpz_add_ui(z, a, b); }
static inline void cgmp_mpz_mul(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_mul(z, a, b); }
static inline void cgmp_mpz_mul_ui(mpz_ptr z, mpz_srcptr a, unsigned long b) { mpz_mul_ui(z, a, b); }
static inline void cgmp_mpz_abs(mpz_ptr z, mpz_srcptr a) { mpz_abs(z, a); }
static inline void cgmp_mpz_neg(mpz_ptr z, mpz_srcptr a) { mpz_neg(z, a); }
static inline void cgmp_mpz_fdiv_q(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_fdiv_q(z, a, b); }
static inline void cgmp_mpz_cdiv_q(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_cdiv_q(z, a, b); }
static inline void cgmp_mpz_ui_pow_ui(mpz_ptr z, unsigned long base, unsigned long power) { mpz_ui_pow_ui(z, base, power); }
static inline void cgmp_mpz_pow_ui(mpz_ptr z, mpz_srcptr base, unsigned long power) { mpz_pow_ui(z, base, power); }
static inline int cgmp_mpz_root(mpz_ptr z, mpz_srcptr a, unsigned long n) { return mpz_root(z, a, n) != 0; }
static inline void cgmp_mpz_gcd(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_gcd(z, a, b); }
static inline void cgmp_mpz_lcm(mpz_ptr z, mpz_srcptr a, mpz_srcptr b) { mpz_lcm(z, a, b); }
static inline void cgmp_mpz_fac_ui(mpz_ptr z, unsigned long n) { mpz_fac_ui(z, n); }
static inline void cgmp_mpz_2fac_ui(mpz_ptr z, unsigned long n) { mpz_2fac_ui(z, n); }
static inline void cgmp_mpz_bin_uiui(mpz_ptr z, unsigned long n, unsigned long k) { mpz_bin_uiui(z, n, k); }
static inline unsigned long cgmp_mpz_remove(mpz_ptr z, mpz_srcptr a, mpz_srcptr factor) { return mpz_remove(z, a, factor); }

static inline void cgmp_mpq_init(mpq_ptr q) { mpq_init(q); }
static inline void cgmp_mpq_clear(mpq_ptr q) { mpq_clear(q); }
static inline void cgmp_mpq_canonicalize(mpq_ptr q) { mpq_canonicalize(q); }
static inline void cgmp_mpq_set_si(mpq_ptr q, long a, unsigned long b) { mpq_set_si(q, a, b); }
static inline void cgmp_mpq_set_z(mpq_ptr q, mpz_srcptr z) { mpq_set_z(q, z); }
static inline mpz_ptr cgmp_mpq_numref(mpq_ptr q) { return mpq_numref(q); }
static inline mpz_ptr cgmp_mpq_denref(mpq_ptr q) { return mpq_denref(q); }
static inline int cgmp_mpq_sgn(mpq_srcptr q) { return mpq_sgn(q); }
static inline int cgmp_mpq_cmp(mpq_srcptr a, mpq_srcptr b) { return mpq_cmp(a, b); }
static inline void cgmp_mpq_add(mpq_ptr q, mpq_srcptr a, mpq_srcptr b) { mpq_add(q, a, b); }
static inline void cgmp_mpq_sub(mpq_ptr q, mpq_srcptr a, mpq_srcptr b) { mpq_sub(q, a, b); }
static inline void cgmp_mpq_mul(mpq_ptr q, mpq_srcptr a, mpq_srcptr b) { mpq_mul(q, a, b); }
static inline void cgmp_mpq_div(mpq_ptr q, mpq_srcptr a, mpq_srcptr b) { mpq_div(q, a, b); }
static inline void cgmp_mpq_neg(mpq_ptr q, mpq_srcptr a) { mpq_neg(q, a); }
static inline void cgmp_mpq_abs(mpq_ptr q, mpq_srcptr a) { mpq_abs(q, a); }

static inline int cgmp_mpfr_sgn(mpfr_srcptr x) { return mpfr_sgn(x); }
static inline int cgmp_mpfr_is_nan(mpfr_srcptr x) { return mpfr_nan_p(x) != 0; }
static inline int cgmp_mpfr_is_infinite(mpfr_srcptr x) { return mpfr_inf_p(x) != 0; }
static inline int cgmp_mpfr_is_zero(mpfr_srcptr x) { return mpfr_zero_p(x) != 0; }
static inline long cgmp_mpfr_exponent(mpfr_srcptr x) { return mpfr_get_exp(x); }
static inline long cgmp_mpfr_precision(mpfr_srcptr x) { return mpfr_get_prec(x); }
static inline void cgmp_mpfr_set(mpfr_ptr x, mpfr_srcptr a) { mpfr_set(x, a, MPFR_RNDN); }
static inline void cgmp_mpfr_set_ui(mpfr_ptr x, unsigned long a) { mpfr_set_ui(x, a, MPFR_RNDN); }
static inline int cgmp_mpfr_abs(mpfr_ptr x, mpfr_srcptr a, mpfr_rnd_t rounding) { return mpfr_abs(x, a, rounding); }
static inline int cgmp_mpfr_compare_one(mpfr_srcptr x) { return mpfr_cmp_ui(x, 1); }
