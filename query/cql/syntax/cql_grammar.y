/* The grammar of CQL, after Cassandra 5.0's.
 *
 * %fallback takes a keyword as a name where no rule takes the keyword.  Where a rule takes it, a
 * further rule makes it a name, as in Cassandra (JSON, EXISTS, KEYS).  Built-in types and functions
 * are not keywords.  A nonterminal without a %type is a term.
 *
 * lemon makes C of this file.  Its option -c leaves out default reductions, so that an error can
 * name the expected token. */
%name cql_grammar
%token_prefix CQL_TOKEN_
%token_type {struct cql_token}
%default_type {struct cql_term *}
%extra_argument {struct cql_builder *b}
%stack_size 1200
%start_symbol input

%include {
#include "query/cql/syntax/cql_build.h"

#define NEW(...) CQL_BUILD_NEW(b, __VA_ARGS__)
#define STATEMENT(kind_, ...) NEW(cql_statement, .kind = CQL_STATEMENT_##kind_, __VA_ARGS__)
#define ROLE_OPTION(kind_, ...) NEW(cql_role_option, .kind = CQL_ROLE_##kind_, __VA_ARGS__)

#define DESCRIBED(kind_, ...) ((struct cql_describe){.kind = CQL_DESCRIBE_##kind_, __VA_ARGS__})
#define RESOURCE(kind_, ...) ((struct cql_resource){.kind = CQL_RESOURCE_##kind_, __VA_ARGS__})

struct yyParser;
static int grammar_expected(const struct yyParser *parser);
}

%stack_overflow {
    cql_build_fail(b, ERROR_LIMIT, "the statement is nested too deeply");
}

%syntax_error {
    cql_build_fail_token(b, &TOKEN, grammar_expected(yypParser));
}

/* ---- tokens ---- */

/* A rule marked [COLUMN] gives way to a longer rule that goes on with one of these tokens. */
%nonassoc COLUMN.
%nonassoc COLON DOT LB MINUS RP STAR.

%fallback NAME
    ACCESS AGGREGATE AGGREGATES ALL ANN AS BETWEEN CALLED CIDRS CLUSTER CLUSTERING COMPACT CONTAINS
    COUNTER CUSTOM DATACENTERS DEFAULT DISTINCT EXISTS FILTERING FINALFUNC FUNCTION FUNCTIONS
    GENERATED GROUP HASHED IDENTITY INITCOND INPUT INTERNALS JSON KEY KEYS KEYSPACES LANGUAGE LIKE
    LIST LOGIN MASKED MBEAN MBEANS NOSUPERUSER ONLY OPTIONS PARTITION PASSWORD PER PERMISSION
    PERMISSIONS REPLACE RETURNS ROLE ROLES SELECT_MASKED SFUNC STATIC STORAGE STYPE SUPERUSER
    SUPERUSERS TABLES TIMESTAMP TRIGGER TTL TYPE TYPES UNMASK UNSET USER USERS VALUES.

/* ---- the statement ---- */

input ::= statement(S) semicolons. { cql_build_finish(b, S); }

semicolons ::= .
semicolons ::= semicolons SEMICOLON.

%type statement {struct cql_statement *}
statement(A) ::= modification(S). { A = S; }

statement(A) ::= USE name(N). { A = STATEMENT(USE, .object = {.name.name = N.text}); }
statement(A) ::= TRUNCATE qualified(N). { A = STATEMENT(TRUNCATE, .object = {.name = N}); }
statement(A) ::= TRUNCATE TABLE qualified(N). { A = STATEMENT(TRUNCATE, .object = {.name = N}); }

/* ---- names ---- */

%type name {struct cql_token}
name(A) ::= NAME|QUOTED_NAME(T). { A = T; }

/* Old super columns have a column without a name. */
%type column {struct cql_token}
column(A) ::= name(T). { A = T; }
column(A) ::= EMPTY_NAME(T). { A = T; }

%type qualified {struct cql_qualified_name}
qualified(A) ::= name(N). { A = (struct cql_qualified_name){.name = N.text}; }
qualified(A) ::= name(K) DOT name(N). {
    A = (struct cql_qualified_name){.keyspace = K.text, .name = N.text};
}

%type columns {struct cql_name_list}
columns(A) ::= column(N). { CQL_LIST_START(&A, cql_build_name(b, N)); }
columns(A) ::= columns(A) COMMA column(N). { CQL_LIST_APPEND(&A, cql_build_name(b, N)); }

%type names {struct cql_name_list}
names(A) ::= name(N). { CQL_LIST_START(&A, cql_build_name(b, N)); }
names(A) ::= names(A) COMMA name(N). { CQL_LIST_APPEND(&A, cql_build_name(b, N)); }

%type if_not_exists {bool}
if_not_exists(A) ::= . { A = false; }
if_not_exists(A) ::= IF NOT EXISTS. { A = true; }

%type if_exists {bool}
if_exists(A) ::= . { A = false; }
if_exists(A) ::= IF EXISTS. { A = true; }

/* ---- types ---- */

%type type {struct cql_type *}
type(A) ::= named_type(T). { A = T; }
type(A) ::= STRING(T). {
    A = NEW(cql_type, .kind = CQL_TYPE_CUSTOM, .name.name = T.text, .depth = 1);
}

%type named_type {struct cql_type *}
named_type(A) ::= name(N). { A = cql_build_type_named(b, N); }
named_type(A) ::= name(K) DOT name(N). { A = cql_build_type_qualified(b, K, N); }
named_type(A) ::= generic_type(T). { A = T; }

%type generic_type {struct cql_type *}
generic_type(A) ::= name(N) LT types(L) GT. { A = cql_build_type_generic(b, N, L, NULL); }
generic_type(A) ::= SET(N) LT types(L) GT. { A = cql_build_type_generic(b, N, L, NULL); }
generic_type(A) ::= name(N) LT types(L) COMMA INTEGER(D) GT. {
    A = cql_build_type_generic(b, N, L, &D);
}

%type types {struct cql_type_list}
types(A) ::= type(T). { CQL_LIST_START(&A, T); }
types(A) ::= types(A) COMMA type(T). { CQL_LIST_APPEND(&A, T); }

%type types_or_none {struct cql_type_list}
types_or_none(A) ::= . { A = (struct cql_type_list){0}; }
types_or_none(A) ::= types(L). { A = L; }

/* ---- literals and markers ---- */

constant(A) ::= STRING(T). { A = cql_build_literal(b, CQL_TERM_STRING, T); }
constant(A) ::= INTEGER(T). { A = cql_build_literal(b, CQL_TERM_INTEGER, T); }
constant(A) ::= FLOAT(T). { A = cql_build_literal(b, CQL_TERM_FLOAT, T); }
constant(A) ::= BOOLEAN(T). { A = cql_build_literal(b, CQL_TERM_BOOLEAN, T); }
constant(A) ::= DURATION(T). { A = cql_build_literal(b, CQL_TERM_DURATION, T); }
constant(A) ::= UUID(T). { A = cql_build_literal(b, CQL_TERM_UUID, T); }
constant(A) ::= BLOB(T). { A = cql_build_literal(b, CQL_TERM_BLOB, T); }
constant(A) ::= NAN|INFINITY(T). { A = cql_build_named_float(b, T); }

marker(A) ::= QMARK. { A = cql_build_marker(b, (struct bytes){0}); }
marker(A) ::= COLON name(N). { A = cql_build_marker(b, N.text); }

atom(A) ::= constant(T). { A = T; }
atom(A) ::= NULL(T). { A = cql_build_literal(b, CQL_TERM_NULL, T); }
atom(A) ::= marker(T). { A = T; }

integer(A) ::= INTEGER(T). { A = cql_build_literal(b, CQL_TERM_INTEGER, T); }
integer(A) ::= marker(T). { A = T; }

/* ---- terms: values in writes and conditions ---- */

term(A) ::= product(T). { A = T; }
term(A) ::= term(L) PLUS(O) product(R). { A = cql_build_operation(b, O, L, R); }
term(A) ::= term(L) MINUS(O) product(R). { A = cql_build_operation(b, O, L, R); }

product(A) ::= factor(T). { A = T; }
product(A) ::= product(L) STAR|SLASH|PERCENT(O) factor(R). { A = cql_build_operation(b, O, L, R); }

factor(A) ::= simple(T). { A = T; }
factor(A) ::= MINUS simple(T). { A = cql_build_around(b, CQL_TERM_NEGATION, T); }

simple(A) ::= atom(T). { A = T; }
simple(A) ::= collection(T). { A = T; }
simple(A) ::= tuple(T). { A = T; }
simple(A) ::= name(N) LP terms_or_none(L) RP. { A = cql_build_function(b, NULL, N, L, false); }
simple(A) ::= name(K) DOT name(N) LP terms_or_none(L) RP. {
    A = cql_build_function(b, &K, N, L, false);
}
simple(A) ::= TOKEN(N) LP terms_or_none(L) RP. { A = cql_build_function(b, NULL, N, L, false); }
simple(A) ::= name(N) LP term(T) AS named_type(C) RP. { A = cql_build_cast(b, N, T, C); }
simple(A) ::= LP named_type(C) RP simple(T). { A = cql_build_hint(b, C, T); }

%type terms {struct cql_term_list}
terms(A) ::= term(T). { CQL_LIST_START(&A, T); }
terms(A) ::= terms(A) COMMA term(T). { CQL_LIST_APPEND(&A, T); }

%type terms_or_none {struct cql_term_list}
terms_or_none(A) ::= . { A = (struct cql_term_list){0}; }
terms_or_none(A) ::= terms(L). { A = L; }

tuple(A) ::= LP terms(L) RP. { A = cql_build_elements(b, CQL_TERM_TUPLE, L); }

collection(A) ::= LB terms_or_none(L) RB. { A = cql_build_elements(b, CQL_TERM_LIST, L); }
collection(A) ::= LC terms_or_none(L) RC. { A = cql_build_elements(b, CQL_TERM_SET, L); }
collection(A) ::= LC pairs(L) RC. { A = cql_build_elements(b, CQL_TERM_MAP, L); }
collection(A) ::= LC fields(L) RC. { A = cql_build_elements(b, CQL_TERM_UDT, L); }

%type pairs {struct cql_term_list}
pairs(A) ::= term(K) COLON term(V). {
    CQL_LIST_START(&A, K);
    CQL_LIST_APPEND(&A, V);
}
pairs(A) ::= pairs(A) COMMA term(K) COLON term(V). {
    CQL_LIST_APPEND(&A, K);
    CQL_LIST_APPEND(&A, V);
}

%type fields {struct cql_term_list}
fields(A) ::= name(K) COLON term(V). {
    CQL_LIST_START(&A, cql_build_literal(b, CQL_TERM_NAME, K));
    CQL_LIST_APPEND(&A, V);
}
fields(A) ::= fields(A) COMMA name(K) COLON term(V). {
    CQL_LIST_APPEND(&A, cql_build_literal(b, CQL_TERM_NAME, K));
    CQL_LIST_APPEND(&A, V);
}

/* ---- selectors ---- */

selected(A) ::= selected_product(T). { A = T; }
selected(A) ::= selected(L) PLUS(O) selected_product(R). { A = cql_build_operation(b, O, L, R); }
selected(A) ::= selected(L) MINUS(O) selected_product(R). { A = cql_build_operation(b, O, L, R); }

selected_product(A) ::= selected_factor(T). { A = T; }
selected_product(A) ::= selected_product(L) STAR|SLASH|PERCENT(O) selected_factor(R). {
    A = cql_build_operation(b, O, L, R);
}

selected_factor(A) ::= selected_inside(T). { A = T; }
selected_factor(A) ::= MINUS selected_factor(T). { A = cql_build_around(b, CQL_TERM_NEGATION, T); }

selected_inside(A) ::= selected_simple(T). { A = T; }
selected_inside(A) ::= selected_column(T). { A = T; }
selected_inside(A) ::= selected_inside(T) DOT name(N). {
    A = cql_build_around(b, CQL_TERM_FIELD, T);
    A->text = N.text;
}
selected_inside(A) ::= selected_inside(T) LB term(F) RB. {
    A = cql_build_subscript(b, CQL_TERM_ELEMENT, T, F, NULL);
}
selected_inside(A) ::= selected_inside(T) LB term(F) RANGE RB. {
    A = cql_build_subscript(b, CQL_TERM_SLICE, T, F, NULL);
}
selected_inside(A) ::= selected_inside(T) LB term(F) RANGE term(U) RB. {
    A = cql_build_subscript(b, CQL_TERM_SLICE, T, F, U);
}
selected_inside(A) ::= selected_inside(T) LB RANGE term(U) RB. {
    A = cql_build_subscript(b, CQL_TERM_SLICE, T, NULL, U);
}

/* a and a.b, where they are neither a type nor a function. */
selected_column(A) ::= name(N). [COLUMN] { A = cql_build_literal(b, CQL_TERM_NAME, N); }
selected_column(A) ::= JSON(N). [COLUMN] { A = cql_build_literal(b, CQL_TERM_NAME, N); }
selected_column(A) ::= DISTINCT(N). [COLUMN] { A = cql_build_literal(b, CQL_TERM_NAME, N); }
selected_column(A) ::= name(C) DOT name(F). [COLUMN] { A = cql_build_field(b, C, F); }
selected_column(A) ::= JSON(C) DOT name(F). { A = cql_build_field(b, C, F); }
selected_column(A) ::= DISTINCT(C) DOT name(F). { A = cql_build_field(b, C, F); }

selected_simple(A) ::= atom(T). { A = T; }
selected_simple(A) ::= selected_function(T). { A = T; }
selected_simple(A) ::= LB selecteds_or_none(L) RB. { A = cql_build_elements(b, CQL_TERM_LIST, L); }
selected_simple(A) ::= LC selecteds_or_none(L) RC. { A = cql_build_elements(b, CQL_TERM_SET, L); }
selected_simple(A) ::= LC selected_pairs(L) RC. { A = cql_build_pairs(b, L); }
selected_simple(A) ::= LP selecteds(L) RP. { A = cql_build_elements(b, CQL_TERM_TUPLE, L); }
selected_simple(A) ::= LP name(N) RP. [COLUMN] {
    A = cql_build_single(b, cql_build_literal(b, CQL_TERM_NAME, N));
}
selected_simple(A) ::= LP name(C) DOT name(F) RP. [COLUMN] {
    A = cql_build_single(b, cql_build_field(b, C, F));
}
selected_simple(A) ::= LP name(N) RP hinted(T). {
    A = cql_build_hint(b, cql_build_type_named(b, N), T);
}
selected_simple(A) ::= LP name(K) DOT name(N) RP hinted(T). {
    A = cql_build_hint(b, cql_build_type_qualified(b, K, N), T);
}
selected_simple(A) ::= LP generic_type(C) RP hinted(T). { A = cql_build_hint(b, C, T); }

hinted(A) ::= selected_simple(T). { A = T; }
hinted(A) ::= name(N). [COLUMN] { A = cql_build_literal(b, CQL_TERM_NAME, N); }

selected_function(A) ::= name(N) LP selecteds_or_none(L) RP. {
    A = cql_build_function(b, NULL, N, L, true);
}
selected_function(A) ::= name(K) DOT name(N) LP selecteds_or_none(L) RP. {
    A = cql_build_function(b, &K, N, L, true);
}
selected_function(A) ::= TOKEN(N) LP selecteds_or_none(L) RP. {
    A = cql_build_function(b, NULL, N, L, true);
}
selected_function(A) ::= name(N) LP STAR RP. { A = cql_build_count_rows(b, N); }
selected_function(A) ::= name(N) LP selected(T) AS named_type(C) RP. {
    A = cql_build_cast(b, N, T, C);
}

%type selecteds {struct cql_term_list}
selecteds(A) ::= selected(T). { CQL_LIST_START(&A, T); }
selecteds(A) ::= selecteds(A) COMMA selected(T). { CQL_LIST_APPEND(&A, T); }

%type selecteds_or_none {struct cql_term_list}
selecteds_or_none(A) ::= . { A = (struct cql_term_list){0}; }
selecteds_or_none(A) ::= selecteds(L). { A = L; }

%type selected_pairs {struct cql_term_list}
selected_pairs(A) ::= selected(K) COLON selected(V). {
    CQL_LIST_START(&A, K);
    CQL_LIST_APPEND(&A, V);
}
selected_pairs(A) ::= selected_pairs(A) COMMA selected(K) COLON selected(V). {
    CQL_LIST_APPEND(&A, K);
    CQL_LIST_APPEND(&A, V);
}

%type selector {struct cql_selector *}
selector(A) ::= selected(T). { A = NEW(cql_selector, .term = T); }
selector(A) ::= selected(T) AS name(N). { A = NEW(cql_selector, .term = T, .alias = N.text); }

%type selectors {struct cql_selector_list}
selectors(A) ::= STAR. { A = (struct cql_selector_list){0}; }
selectors(A) ::= some_selectors(L). { A = L; }

%type some_selectors {struct cql_selector_list}
some_selectors(A) ::= selector(S). { CQL_LIST_START(&A, S); }
some_selectors(A) ::= some_selectors(A) COMMA selector(S). { CQL_LIST_APPEND(&A, S); }

/* ---- SELECT ---- */

statement(A) ::= select_head(S) FROM qualified(N) where_or_none(W) group_by(G) order_by(O)
                 per_partition_limit(P) limit(L) allow_filtering(F). {
    A = S;
    A->select.table = N;
    A->select.where = W.first;
    A->select.group_by = G.first;
    A->select.order_by = O.first;
    A->select.per_partition_limit = P;
    A->select.limit = L;
    A->select.allow_filtering = F;
}

%type select_head {struct cql_statement *}
select_head(A) ::= SELECT selectors(L). { A = STATEMENT(SELECT, .select = {.selectors = L.first}); }
select_head(A) ::= SELECT JSON selectors(L). {
    A = STATEMENT(SELECT, .select = {.selectors = L.first, .is_json = true});
}
select_head(A) ::= SELECT DISTINCT selectors(L). {
    A = STATEMENT(SELECT, .select = {.selectors = L.first, .is_distinct = true});
}
select_head(A) ::= SELECT JSON DISTINCT selectors(L). {
    A = STATEMENT(SELECT, .select = {.selectors = L.first, .is_json = true, .is_distinct = true});
}

%type group_by {struct cql_term_list}
group_by(A) ::= . { A = (struct cql_term_list){0}; }
group_by(A) ::= GROUP BY selecteds(L). { A = L; }

%type order_by {struct cql_ordering_list}
order_by(A) ::= . { A = (struct cql_ordering_list){0}; }
order_by(A) ::= ORDER BY orderings(L). { A = L; }

%type orderings {struct cql_ordering_list}
orderings(A) ::= ordering(O). { CQL_LIST_START(&A, O); }
orderings(A) ::= orderings(A) COMMA ordering(O). { CQL_LIST_APPEND(&A, O); }

%type ordering {struct cql_ordering *}
ordering(A) ::= column(C) direction(D). {
    A = NEW(cql_ordering, .column = C.text, .descending = D);
}
ordering(A) ::= column(C) ANN OF term(T) direction(D). {
    A = NEW(cql_ordering, .column = C.text, .ann_of = T, .descending = D);
}

%type direction {bool}
direction(A) ::= . { A = false; }
direction(A) ::= ASC. { A = false; }
direction(A) ::= DESC. { A = true; }

per_partition_limit(A) ::= . { A = NULL; }
per_partition_limit(A) ::= PER PARTITION LIMIT integer(T). { A = T; }

limit(A) ::= . { A = NULL; }
limit(A) ::= LIMIT integer(T). { A = T; }

%type allow_filtering {bool}
allow_filtering(A) ::= . { A = false; }
allow_filtering(A) ::= ALLOW FILTERING. { A = true; }

/* ---- WHERE ---- */

%type where_or_none {struct cql_relation_list}
where_or_none(A) ::= . { A = (struct cql_relation_list){0}; }
where_or_none(A) ::= where(L). { A = L; }

%type where {struct cql_relation_list}
where(A) ::= WHERE relation(R). { CQL_LIST_START(&A, R); }
where(A) ::= where(A) AND relation(R). { CQL_LIST_APPEND(&A, R); }

%type compare {enum cql_operator}
compare(A) ::= EQ. { A = CQL_EQ; }
compare(A) ::= LT. { A = CQL_LT; }
compare(A) ::= LE. { A = CQL_LE; }
compare(A) ::= GT. { A = CQL_GT; }
compare(A) ::= GE. { A = CQL_GE; }
compare(A) ::= NE. { A = CQL_NE; }

%type in {enum cql_operator}
in(A) ::= IN. { A = CQL_IN; }
in(A) ::= NOT IN. { A = CQL_NOT_IN; }

%type contains {enum cql_operator}
contains(A) ::= CONTAINS. { A = CQL_CONTAINS; }
contains(A) ::= CONTAINS KEY. { A = CQL_CONTAINS_KEY; }
contains(A) ::= NOT CONTAINS. { A = CQL_NOT_CONTAINS; }
contains(A) ::= NOT CONTAINS KEY. { A = CQL_NOT_CONTAINS_KEY; }

/* `comparison` serves WHERE and conditions; the relations below it serve only WHERE. */
%type comparison {struct cql_relation *}
comparison(A) ::= compare(O) term(T). { A = cql_build_comparison(b, O, T, 1); }
comparison(A) ::= contains(O) term(T). { A = cql_build_comparison(b, O, T, 1); }
comparison(A) ::= in(O) LP terms_or_none(L) RP. {
    A = cql_build_comparison(b, O, L.first, L.count);
}
comparison(A) ::= in(O) marker(M). { A = cql_build_in_marker(b, O, M); }

%type column_comparison {struct cql_relation *}
column_comparison(A) ::= comparison(R). { A = R; }
column_comparison(A) ::= LIKE term(T). { A = cql_build_comparison(b, CQL_LIKE, T, 1); }
column_comparison(A) ::= BETWEEN term(F) AND term(U). { A = cql_build_between(b, F, U); }
column_comparison(A) ::= IS NOT NULL. { A = cql_build_comparison(b, CQL_IS_NOT_NULL, NULL, 0); }

%type token_comparison {struct cql_relation *}
token_comparison(A) ::= compare(O) term(T). { A = cql_build_comparison(b, O, T, 1); }
token_comparison(A) ::= BETWEEN term(F) AND term(U). { A = cql_build_between(b, F, U); }

%type tuple_comparison {struct cql_relation *}
tuple_comparison(A) ::= compare(O) tuple_or_marker(T). { A = cql_build_comparison(b, O, T, 1); }
tuple_comparison(A) ::= BETWEEN tuple_or_marker(F) AND tuple_or_marker(U). {
    A = cql_build_between(b, F, U);
}
tuple_comparison(A) ::= in(O) LP tuples_or_none(L) RP. {
    A = cql_build_comparison(b, O, L.first, L.count);
}
tuple_comparison(A) ::= in(O) marker(M). { A = cql_build_in_marker(b, O, M); }

%type relation {struct cql_relation *}
relation(A) ::= LP relation(R) RP. { A = R; }
relation(A) ::= column(C) column_comparison(R). { A = cql_build_column_relation(b, R, C); }
relation(A) ::= column(C) LB term(K) RB compare(O) term(T). {
    A = cql_build_column_relation(b, cql_build_comparison(b, O, T, 1), C);
    A->kind = CQL_RELATION_ELEMENT;
    A->key = K;
}
relation(A) ::= TOKEN LP columns(L) RP token_comparison(R). {
    A = cql_build_relation(R, CQL_RELATION_TOKEN, L);
}
relation(A) ::= LP columns(L) RP tuple_comparison(R). {
    A = cql_build_relation(R, CQL_RELATION_TUPLE, L);
}
relation(A) ::= EXPR name(N) COMMA term(T) RP. {
    A = cql_build_column_relation(b, cql_build_comparison(b, CQL_EQ, T, 1), N);
    A->kind = CQL_RELATION_INDEX;
}

tuple_or_marker(A) ::= tuple(T). { A = T; }
tuple_or_marker(A) ::= marker(T). { A = T; }

%type tuples_or_none {struct cql_term_list}
tuples_or_none(A) ::= . { A = (struct cql_term_list){0}; }
tuples_or_none(A) ::= tuples(L). { A = L; }

%type tuples {struct cql_term_list}
tuples(A) ::= tuple_or_marker(T). { CQL_LIST_START(&A, T); }
tuples(A) ::= tuples(A) COMMA tuple_or_marker(T). { CQL_LIST_APPEND(&A, T); }

/* ---- INSERT, UPDATE, DELETE ---- */

%type modification {struct cql_statement *}

%type using {struct cql_attributes}
using(A) ::= . { A = (struct cql_attributes){0}; }
using(A) ::= some_using(U). { A = U; }

%type some_using {struct cql_attributes}
some_using(A) ::= USING attribute(U). { A = U; }
some_using(A) ::= some_using(L) AND attribute(U). {
    A.timestamp = U.timestamp != NULL ? U.timestamp : L.timestamp;
    A.ttl = U.ttl != NULL ? U.ttl : L.ttl;
}

%type attribute {struct cql_attributes}
attribute(A) ::= TIMESTAMP integer(T). { A = (struct cql_attributes){.timestamp = T}; }
attribute(A) ::= TTL integer(T). { A = (struct cql_attributes){.ttl = T}; }

modification(A) ::= INSERT INTO qualified(N) LP columns(C) RP VALUES LP terms(V) RP
                    if_not_exists(I) using(U). {
    A = STATEMENT(INSERT, .insert = {.table = N, .columns = C.first, .column_count = C.count,
                                     .values = V.first, .value_count = V.count, .if_not_exists = I,
                                     .attributes = U});
}
modification(A) ::= INSERT INTO qualified(N) JSON json(J) default_unset(D) if_not_exists(I)
                    using(U). {
    A = STATEMENT(INSERT, .insert = {.table = N, .json = J, .default_unset = D, .if_not_exists = I,
                                     .attributes = U});
}

json(A) ::= STRING(T). { A = cql_build_literal(b, CQL_TERM_STRING, T); }
json(A) ::= marker(T). { A = T; }

%type default_unset {bool}
default_unset(A) ::= . { A = false; }
default_unset(A) ::= DEFAULT NULL. { A = false; }
default_unset(A) ::= DEFAULT UNSET. { A = true; }

modification(A) ::= UPDATE qualified(N) using(U) SET assignments(L) where(W) conditions(C). {
    A = STATEMENT(UPDATE,
                  .update = {.table = N, .attributes = U, .assignments = L.first, .where = W.first,
                             .conditions = C});
    cql_build_check_assignments(b, L);
}

%type assignments {struct cql_assignment_list}
assignments(A) ::= assignment(S). { CQL_LIST_START(&A, S); }
assignments(A) ::= assignments(A) COMMA assignment(S). { CQL_LIST_APPEND(&A, S); }

%type assignment {struct cql_assignment *}
assignment(A) ::= column(C) EQ term(T). { A = cql_build_assignment(b, CQL_ASSIGN, C, T); }
assignment(A) ::= column(C) EQ term(T) PLUS column(O). {
    A = cql_build_assignment(b, CQL_ASSIGN_PREPEND, C, T);
    cql_build_check_same(b, C, O, "<value> + X");
}
assignment(A) ::= column(C) EQ column(O) PLUS term(T). {
    A = cql_build_assignment(b, CQL_ASSIGN_ADD, C, T);
    cql_build_check_same(b, C, O, "X +<value>");
}
assignment(A) ::= column(C) EQ column(O) MINUS term(T). {
    A = cql_build_assignment(b, CQL_ASSIGN_SUBTRACT, C, T);
    cql_build_check_same(b, C, O, "X -<value>");
}
assignment(A) ::= column(C) EQ column(O) INTEGER(I). {
    A = cql_build_assignment(b, CQL_ASSIGN_ADD, C, cql_build_literal(b, CQL_TERM_INTEGER, I));
    cql_build_check_same(b, C, O, I.text.data[0] == '-' ? "X - <value>" : "X + <value>");
}
assignment(A) ::= column(C) PLUS_EQ term(T). { A = cql_build_assignment(b, CQL_ASSIGN_ADD, C, T); }
assignment(A) ::= column(C) MINUS_EQ term(T). {
    A = cql_build_assignment(b, CQL_ASSIGN_SUBTRACT, C, T);
}
assignment(A) ::= column(C) LB term(K) RB EQ term(T). {
    A = cql_build_assignment(b, CQL_ASSIGN_ELEMENT, C, T);
    A->key = K;
}
assignment(A) ::= column(C) DOT name(F) EQ term(T). {
    A = cql_build_assignment(b, CQL_ASSIGN_FIELD, C, T);
    A->field = F.text;
}

modification(A) ::= DELETE deletions_or_none(L) FROM qualified(N) using_timestamp(U) where(W)
                    conditions(C). {
    A = STATEMENT(DELETE, .delete = {.table = N, .deletions = L.first, .attributes = U,
                                     .where = W.first, .conditions = C});
}

%type using_timestamp {struct cql_attributes}
using_timestamp(A) ::= . { A = (struct cql_attributes){0}; }
using_timestamp(A) ::= USING TIMESTAMP integer(T). { A = (struct cql_attributes){.timestamp = T}; }

%type deletions_or_none {struct cql_deletion_list}
deletions_or_none(A) ::= . { A = (struct cql_deletion_list){0}; }
deletions_or_none(A) ::= deletions(L). { A = L; }

%type deletions {struct cql_deletion_list}
deletions(A) ::= deletion(D). { CQL_LIST_START(&A, D); }
deletions(A) ::= deletions(A) COMMA deletion(D). { CQL_LIST_APPEND(&A, D); }

%type deletion {struct cql_deletion *}
deletion(A) ::= column(C). { A = NEW(cql_deletion, .column = C.text); }
deletion(A) ::= column(C) LB term(K) RB. { A = NEW(cql_deletion, .column = C.text, .key = K); }
deletion(A) ::= column(C) DOT name(F). { A = NEW(cql_deletion, .column = C.text, .field = F.text); }

%type conditions {struct cql_conditions}
conditions(A) ::= . { A = (struct cql_conditions){0}; }
conditions(A) ::= IF EXISTS. { A = (struct cql_conditions){.if_exists = true}; }
conditions(A) ::= IF some_conditions(L). { A = (struct cql_conditions){.relations = L.first}; }

%type some_conditions {struct cql_relation_list}
some_conditions(A) ::= condition(R). { CQL_LIST_START(&A, R); }
some_conditions(A) ::= some_conditions(A) AND condition(R). { CQL_LIST_APPEND(&A, R); }

%type condition {struct cql_relation *}
condition(A) ::= condition_column(C) comparison(R). { A = cql_build_column_relation(b, R, C); }
condition(A) ::= condition_column(C) LB term(K) RB comparison(R). {
    A = cql_build_column_relation(b, R, C);
    A->kind = CQL_RELATION_ELEMENT;
    A->key = K;
}
condition(A) ::= condition_column(C) DOT name(F) comparison(R). {
    A = cql_build_column_relation(b, R, C);
    A->kind = CQL_RELATION_FIELD;
    A->field = F.text;
}

%type condition_column {struct cql_token}
condition_column(A) ::= column(C). { A = C; }
condition_column(A) ::= EXISTS(C). { A = C; }

/* ---- BATCH ---- */

statement(A) ::= BEGIN batch_kind(K) BATCH using(U) batch_statements(L) APPLY BATCH. {
    A = STATEMENT(BATCH, .batch = {.is_unlogged = K == CQL_TOKEN_UNLOGGED,
                                   .is_counter = K == CQL_TOKEN_COUNTER, .attributes = U,
                                   .statements = L.first, .statement_count = L.count});
}

%type batch_kind {int}
batch_kind(A) ::= . { A = CQL_TOKEN_BATCH; }
batch_kind(A) ::= UNLOGGED|COUNTER(K). { A = K.kind; }

%type batch_statements {struct cql_statement_list}
batch_statements(A) ::= . { A = (struct cql_statement_list){0}; }
batch_statements(A) ::= batch_statements(A) modification(S). { CQL_LIST_APPEND(&A, S); }
batch_statements(A) ::= batch_statements(A) modification(S) SEMICOLON. { CQL_LIST_APPEND(&A, S); }

/* ---- properties ---- */

%type with_or_none {struct cql_property_list}
with_or_none(A) ::= . { A = (struct cql_property_list){0}; }
with_or_none(A) ::= with(L). { A = L; }

%type with {struct cql_property_list}
with(A) ::= some_with(L). {
    A = L;
    cql_build_check_properties(b, L);
}

%type some_with {struct cql_property_list}
some_with(A) ::= WITH property(P). { CQL_LIST_START(&A, P); }
some_with(A) ::= some_with(A) AND property(P). { CQL_LIST_APPEND(&A, P); }

%type property {struct cql_property *}
property(A) ::= name(N) EQ property_value(V). { A = NEW(cql_property, .name = N.text, .value = V); }

property_value(A) ::= constant(V). { A = V; }
property_value(A) ::= name(V). { A = cql_build_word(b, V); }
property_value(A) ::= map(V). { A = V; }

map(A) ::= LC RC. { A = cql_build_elements(b, CQL_TERM_MAP, (struct cql_term_list){0}); }
map(A) ::= LC pairs(L) RC. {
    A = cql_build_elements(b, CQL_TERM_MAP, L);
    cql_build_check_map(b, A);
}

/* ---- keyspaces, tables, types ---- */

keyspace_word ::= KEYSPACE|SCHEMA.

statement(A) ::= CREATE keyspace_word if_not_exists(I) name(N) with(L). {
    A = STATEMENT(CREATE_KEYSPACE, .create_keyspace = {.if_not_exists = I, .name = N.text,
                                                       .properties = L.first});
}
statement(A) ::= ALTER keyspace_word if_exists(I) name(N) with(L). {
    A = STATEMENT(ALTER_KEYSPACE, .object = {.if_exists = I, .name.name = N.text,
                                             .properties = L.first});
}
statement(A) ::= DROP keyspace_word if_exists(I) name(N). {
    A = STATEMENT(DROP_KEYSPACE, .object = {.if_exists = I, .name.name = N.text});
}

statement(A) ::= CREATE TABLE if_not_exists(I) qualified(N) LP table_parts(T) RP
                 table_options(O). {
    A = STATEMENT(CREATE_TABLE,
                  .create_table = {.if_not_exists = I, .name = N, .columns = T.columns.first,
                                   .key = T.key, .clustering_order = O.clustering_order.first,
                                   .compact_storage = O.compact_storage,
                                   .properties = O.properties.first});
    cql_build_check_properties(b, O.properties);
}

/* As in Cassandra, a comma may stand after the last column, and after another comma. */
%type table_parts {struct cql_table_parts}
table_parts(A) ::= table_part(P). { A = P; }
table_parts(A) ::= table_parts(A) COMMA.
table_parts(A) ::= table_parts(A) COMMA table_part(P). { cql_build_join_parts(&A, P); }

%type table_part {struct cql_table_parts}
table_part(A) ::= table_column(C). {
    A = (struct cql_table_parts){.key.count = C->is_primary_key};
    CQL_LIST_START(&A.columns, C);
}
table_part(A) ::= primary_key(K). { A = (struct cql_table_parts){.key = K}; }

%type table_column {struct cql_definition *}
table_column(A) ::= added_column(C). { A = C; }
table_column(A) ::= added_column(C) PRIMARY KEY. {
    A = C;
    A->is_primary_key = true;
}

%type added_column {struct cql_definition *}
added_column(A) ::= name(N) type(T) is_static(S) mask(M). {
    A = M;
    A->name = N.text;
    A->type = T;
    A->is_static = S;
}

%type is_static {bool}
is_static(A) ::= . { A = false; }
is_static(A) ::= STATIC. { A = true; }

/* The rules that use `mask` set the other members. */
%type mask {struct cql_definition *}
mask(A) ::= . { A = NEW(cql_definition, .is_masked = false); }
mask(A) ::= some_mask(M). { A = M; }

%type some_mask {struct cql_definition *}
some_mask(A) ::= MASKED WITH DEFAULT. { A = NEW(cql_definition, .is_masked = true); }
some_mask(A) ::= MASKED WITH name(N) LP terms_or_none(L) RP. {
    A = NEW(cql_definition, .is_masked = true, .mask = cql_build_function(b, NULL, N, L, false));
}
some_mask(A) ::= MASKED WITH name(K) DOT name(N) LP terms_or_none(L) RP. {
    A = NEW(cql_definition, .is_masked = true, .mask = cql_build_function(b, &K, N, L, false));
}

%type primary_key {struct cql_primary_key}
primary_key(A) ::= PRIMARY KEY LP partition_key(L) RP. {
    A = (struct cql_primary_key){.partition = L.first, .count = 1};
}
primary_key(A) ::= PRIMARY KEY LP partition_key(L) COMMA names(C) RP. {
    A = (struct cql_primary_key){.partition = L.first, .clustering = C.first, .count = 1};
}

%type partition_key {struct cql_name_list}
partition_key(A) ::= name(N). { CQL_LIST_START(&A, cql_build_name(b, N)); }
partition_key(A) ::= LP names(L) RP. { A = L; }

%type table_options {struct cql_table_options}
table_options(A) ::= . { A = (struct cql_table_options){0}; }
table_options(A) ::= some_table_options(O). { A = O; }

%type some_table_options {struct cql_table_options}
some_table_options(A) ::= WITH table_option(O). { A = O; }
some_table_options(A) ::= some_table_options(A) AND table_option(O). {
    cql_build_join_options(&A, O);
}

%type table_option {struct cql_table_options}
table_option(A) ::= property(P). {
    A = (struct cql_table_options){0};
    CQL_LIST_APPEND(&A.properties, P);
}
table_option(A) ::= COMPACT STORAGE. { A = (struct cql_table_options){.compact_storage = true}; }
table_option(A) ::= CLUSTERING ORDER BY LP clustering_orders(L) RP. {
    A = (struct cql_table_options){.clustering_order = L};
}

%type clustering_orders {struct cql_ordering_list}
clustering_orders(A) ::= clustering_order(O). { CQL_LIST_START(&A, O); }
clustering_orders(A) ::= clustering_orders(A) COMMA clustering_order(O). { CQL_LIST_APPEND(&A, O); }

%type clustering_order {struct cql_ordering *}
clustering_order(A) ::= name(N) ASC. { A = NEW(cql_ordering, .column = N.text); }
clustering_order(A) ::= name(N) DESC. {
    A = NEW(cql_ordering, .column = N.text, .descending = true);
}

statement(A) ::= ALTER TABLE if_exists(I) qualified(N) table_change(C). {
    C->if_exists = I;
    C->name = N;
    A = STATEMENT(ALTER_TABLE, .alter = *C);
}

%type table_change {struct cql_alter *}
table_change(A) ::= ALTER if_exists(I) name(N) TYPE type(T). {
    A = NEW(cql_alter, .kind = CQL_ALTER_TYPE, .if_column_exists = I,
            .definitions = NEW(cql_definition, .name = N.text, .type = T));
}
table_change(A) ::= ALTER if_exists(I) name(N) some_mask(M). {
    A = NEW(cql_alter, .kind = CQL_ALTER_MASK, .if_column_exists = I, .definitions = M);
    M->name = N.text;
}
table_change(A) ::= ALTER if_exists(I) name(N) DROP MASKED. {
    A = NEW(cql_alter, .kind = CQL_ALTER_UNMASK, .if_column_exists = I,
            .columns = cql_build_name(b, N));
}
table_change(A) ::= ADD if_not_exists(I) added_column(C). {
    A = NEW(cql_alter, .kind = CQL_ALTER_ADD, .if_column_not_exists = I, .definitions = C);
}
table_change(A) ::= ADD if_not_exists(I) LP added_columns(L) RP. {
    A = NEW(cql_alter, .kind = CQL_ALTER_ADD, .if_column_not_exists = I, .definitions = L.first);
}
table_change(A) ::= DROP dropped(L) drop_timestamp(T). {
    A = NEW(cql_alter, .kind = CQL_ALTER_DROP, .columns = L.first, .timestamp = T);
}
table_change(A) ::= DROP IF EXISTS dropped(L) drop_timestamp(T). {
    A = NEW(cql_alter, .kind = CQL_ALTER_DROP, .if_column_exists = true, .columns = L.first,
            .timestamp = T);
}
table_change(A) ::= DROP COMPACT STORAGE. {
    A = NEW(cql_alter, .kind = CQL_ALTER_DROP_COMPACT_STORAGE);
}
table_change(A) ::= renaming(C). { A = C; }
table_change(A) ::= with(L). { A = NEW(cql_alter, .kind = CQL_ALTER_WITH, .properties = L.first); }

%type added_columns {struct cql_definition_list}
added_columns(A) ::= added_column(C). { CQL_LIST_START(&A, C); }
added_columns(A) ::= added_columns(A) COMMA added_column(C). { CQL_LIST_APPEND(&A, C); }

%type dropped {struct cql_name_list}
dropped(A) ::= name(N). { CQL_LIST_START(&A, cql_build_name(b, N)); }
dropped(A) ::= COMPACT(N). { CQL_LIST_START(&A, cql_build_name(b, N)); }
dropped(A) ::= LP names(L) RP. { A = L; }

drop_timestamp(A) ::= . { A = NULL; }
drop_timestamp(A) ::= USING TIMESTAMP INTEGER(T). { A = cql_build_literal(b, CQL_TERM_INTEGER, T); }

%type renaming {struct cql_alter *}
renaming(A) ::= RENAME if_exists(I) renames(L). {
    A = NEW(cql_alter, .kind = CQL_ALTER_RENAME, .if_column_exists = I, .renames = L.first);
}

%type renames {struct cql_rename_list}
renames(A) ::= rename(R). { CQL_LIST_START(&A, R); }
renames(A) ::= renames(A) AND rename(R). { CQL_LIST_APPEND(&A, R); }

%type rename {struct cql_rename *}
rename(A) ::= name(F) TO name(T). { A = NEW(cql_rename, .from = F.text, .to = T.text); }

statement(A) ::= DROP TABLE if_exists(I) qualified(N). {
    A = STATEMENT(DROP_TABLE, .object = {.if_exists = I, .name = N});
}

statement(A) ::= CREATE TYPE if_not_exists(I) type_name(N) LP fields_defined(L) RP. {
    A = STATEMENT(CREATE_TYPE, .create_type = {.if_not_exists = I, .name = N, .fields = L.first});
}

%type type_name {struct cql_qualified_name}
type_name(A) ::= name(N). {
    A = (struct cql_qualified_name){.name = N.text};
    cql_build_check_type_name(b, N);
}
type_name(A) ::= name(K) DOT name(N). {
    A = (struct cql_qualified_name){.keyspace = K.text, .name = N.text};
    cql_build_check_type_name(b, N);
}

%type fields_defined {struct cql_definition_list}
fields_defined(A) ::= field_defined(F). { CQL_LIST_START(&A, F); }
fields_defined(A) ::= fields_defined(A) COMMA.
fields_defined(A) ::= fields_defined(A) COMMA field_defined(F). { CQL_LIST_APPEND(&A, F); }

%type field_defined {struct cql_definition *}
field_defined(A) ::= name(N) type(T). { A = NEW(cql_definition, .name = N.text, .type = T); }

statement(A) ::= ALTER TYPE if_exists(I) type_name(N) type_change(C). {
    C->if_exists = I;
    C->name = N;
    A = STATEMENT(ALTER_TYPE, .alter = *C);
}

%type type_change {struct cql_alter *}
type_change(A) ::= ALTER name(N) TYPE type(T). {
    A = NEW(cql_alter, .kind = CQL_ALTER_TYPE,
            .definitions = NEW(cql_definition, .name = N.text, .type = T));
}
type_change(A) ::= ADD if_not_exists(I) field_defined(F). {
    A = NEW(cql_alter, .kind = CQL_ALTER_ADD, .if_column_not_exists = I, .definitions = F);
}
type_change(A) ::= renaming(C). { A = C; }

statement(A) ::= DROP TYPE if_exists(I) type_name(N). {
    A = STATEMENT(DROP_TYPE, .object = {.if_exists = I, .name = N});
}

/* ---- indexes, views, triggers ---- */

statement(A) ::= CREATE custom(C) INDEX if_not_exists(I) index_name(X) ON qualified(N)
                 LP index_targets(L) RP index_class(U) with_or_none(W). {
    A = STATEMENT(CREATE_INDEX, .create_index = {.is_custom = C, .if_not_exists = I, .name = X,
                                                 .table = N, .targets = L.first,
                                                 .has_class = U.data != NULL, .class_name = U,
                                                 .properties = W.first});
}

%type custom {bool}
custom(A) ::= . { A = false; }
custom(A) ::= CUSTOM. { A = true; }

%type index_name {struct bytes}
index_name(A) ::= . { A = (struct bytes){0}; }
index_name(A) ::= name(N). { A = N.text; }

%type index_class {struct bytes}
index_class(A) ::= . { A = (struct bytes){0}; }
index_class(A) ::= USING STRING(T). { A = T.text; }

%type index_targets {struct cql_index_target_list}
index_targets(A) ::= . { A = (struct cql_index_target_list){0}; }
index_targets(A) ::= some_index_targets(L). { A = L; }

%type some_index_targets {struct cql_index_target_list}
some_index_targets(A) ::= index_target(T). { CQL_LIST_START(&A, T); }
some_index_targets(A) ::= some_index_targets(A) COMMA index_target(T). { CQL_LIST_APPEND(&A, T); }

%type index_target {struct cql_index_target *}
index_target(A) ::= simple_target(C). { A = NEW(cql_index_target, .column = C.text); }
index_target(A) ::= index_part(K) LP column(C) RP. {
    A = NEW(cql_index_target, .kind = K, .column = C.text);
}

%type simple_target {struct cql_token}
simple_target(A) ::= column(C). { A = C; }
simple_target(A) ::= VALUES(C). { A = C; }
simple_target(A) ::= KEYS(C). { A = C; }

%type index_part {enum cql_index_kind}
index_part(A) ::= VALUES. { A = CQL_INDEX_VALUES; }
index_part(A) ::= KEYS. { A = CQL_INDEX_KEYS; }
index_part(A) ::= ENTRIES. { A = CQL_INDEX_ENTRIES; }
index_part(A) ::= FULL. { A = CQL_INDEX_FULL; }

statement(A) ::= DROP INDEX if_exists(I) qualified(N). {
    A = STATEMENT(DROP_INDEX, .object = {.if_exists = I, .name = N});
}

/* Views and triggers are refused by their kind: only their syntax is checked. */
statement(A) ::= CREATE MATERIALIZED VIEW if_not_exists qualified AS SELECT selectors
                 FROM qualified where_or_none primary_key table_options(O). {
    A = STATEMENT(VIEW);
    cql_build_check_view(b, O);
}
statement(A) ::= ALTER MATERIALIZED VIEW if_exists qualified with. { A = STATEMENT(VIEW); }
statement(A) ::= DROP MATERIALIZED VIEW if_exists(I) qualified(N). {
    A = STATEMENT(DROP_VIEW, .object = {.if_exists = I, .name = N});
}

statement(A) ::= CREATE TRIGGER if_not_exists name ON qualified USING STRING. {
    A = STATEMENT(TRIGGER);
}
statement(A) ::= DROP TRIGGER if_exists name ON qualified. { A = STATEMENT(TRIGGER); }

/* ---- functions and aggregates, which are refused ---- */

or_replace ::= .
or_replace ::= OR REPLACE.

statement(A) ::= CREATE or_replace FUNCTION if_not_exists qualified LP parameters RP
                 on_null_input ON NULL INPUT RETURNS type LANGUAGE name AS STRING. {
    A = STATEMENT(FUNCTION);
}

on_null_input ::= RETURNS NULL.
on_null_input ::= CALLED.

parameters ::= .
parameters ::= some_parameters.

some_parameters ::= field_defined.
some_parameters ::= some_parameters COMMA field_defined.

statement(A) ::= CREATE or_replace AGGREGATE if_not_exists qualified
                 LP types_or_none RP SFUNC name STYPE type finalfunc initcond. {
    A = STATEMENT(FUNCTION);
}

finalfunc ::= .
finalfunc ::= FINALFUNC name.

initcond ::= .
initcond ::= INITCOND term.

statement(A) ::= DROP FUNCTION|AGGREGATE if_exists qualified signature. { A = STATEMENT(FUNCTION); }

signature ::= .
signature ::= LP types_or_none RP.

/* ---- roles and permissions ---- */

%type role_name {struct cql_token}
role_name(A) ::= name(N). { A = N; }
role_name(A) ::= STRING(N). { A = N; }

statement(A) ::= CREATE ROLE if_not_exists(I) role_name(N) with_role(L). {
    A = STATEMENT(CREATE_ROLE, .role = {.if_not_exists = I, .name = N.text, .options = L.first});
}
statement(A) ::= ALTER ROLE if_exists(I) role_name(N) with_role(L). {
    A = STATEMENT(ALTER_ROLE, .role = {.if_exists = I, .name = N.text, .options = L.first});
}
statement(A) ::= DROP ROLE if_exists(I) role_name(N). {
    A = STATEMENT(DROP_ROLE, .role = {.if_exists = I, .name = N.text});
}
statement(A) ::= CREATE USER if_not_exists(I) role_name(N) user_options(L). {
    A = STATEMENT(CREATE_ROLE,
                  .role = {.is_user = true, .if_not_exists = I, .name = N.text,
                           .options = L.first});
    cql_build_check_user(b, N);
}
statement(A) ::= ALTER USER if_exists(I) role_name(N) user_options(L). {
    A = STATEMENT(ALTER_ROLE,
                  .role = {.is_user = true, .if_exists = I, .name = N.text, .options = L.first});
    cql_build_check_user(b, N);
}
statement(A) ::= DROP USER if_exists(I) role_name(N). {
    A = STATEMENT(DROP_ROLE, .role = {.is_user = true, .if_exists = I, .name = N.text});
    cql_build_check_user(b, N);
}

%type with_role {struct cql_role_option_list}
with_role(A) ::= . { A = (struct cql_role_option_list){0}; }
with_role(A) ::= some_with_role(L). {
    A = L;
    cql_build_check_role(b, L);
}

%type some_with_role {struct cql_role_option_list}
some_with_role(A) ::= WITH role_option(O). { CQL_LIST_START(&A, O); }
some_with_role(A) ::= some_with_role(A) AND role_option(O). { CQL_LIST_APPEND(&A, O); }

%type role_option {struct cql_role_option *}
role_option(A) ::= PASSWORD EQ STRING(T). { A = ROLE_OPTION(PASSWORD, .text = T.text); }
role_option(A) ::= HASHED PASSWORD EQ STRING(T). {
    A = ROLE_OPTION(HASHED_PASSWORD, .text = T.text);
}
role_option(A) ::= GENERATED PASSWORD. { A = ROLE_OPTION(GENERATED_PASSWORD); }
role_option(A) ::= SUPERUSER EQ boolean(V). { A = ROLE_OPTION(SUPERUSER, .is_on = V); }
role_option(A) ::= LOGIN EQ boolean(V). { A = ROLE_OPTION(LOGIN, .is_on = V); }
role_option(A) ::= OPTIONS EQ map(M). { A = ROLE_OPTION(OPTIONS, .map = M); }
role_option(A) ::= ACCESS TO ALL DATACENTERS. { A = ROLE_OPTION(ALL_DATACENTERS); }
role_option(A) ::= ACCESS TO DATACENTERS LC strings(L) RC. {
    A = ROLE_OPTION(DATACENTERS, .names = L.first);
}
role_option(A) ::= ACCESS FROM ALL CIDRS. { A = ROLE_OPTION(ALL_CIDRS); }
role_option(A) ::= ACCESS FROM CIDRS LC strings(L) RC. { A = ROLE_OPTION(CIDRS, .names = L.first); }

%type boolean {bool}
boolean(A) ::= BOOLEAN(T). { A = T.text.size == strlen("true"); }

%type strings {struct cql_name_list}
strings(A) ::= STRING(T). { CQL_LIST_START(&A, cql_build_name(b, T)); }
strings(A) ::= strings(A) COMMA STRING(T). { CQL_LIST_APPEND(&A, cql_build_name(b, T)); }

%type user_options {struct cql_role_option_list}
user_options(A) ::= user_password(P) superuser(S). {
    A = (struct cql_role_option_list){0};
    if (P != NULL)
        CQL_LIST_APPEND(&A, P);
    if (S != NULL)
        CQL_LIST_APPEND(&A, S);
}

%type user_password {struct cql_role_option *}
user_password(A) ::= . { A = NULL; }
user_password(A) ::= WITH PASSWORD STRING(T). { A = ROLE_OPTION(PASSWORD, .text = T.text); }
user_password(A) ::= WITH HASHED PASSWORD STRING(T). {
    A = ROLE_OPTION(HASHED_PASSWORD, .text = T.text);
}
user_password(A) ::= WITH GENERATED PASSWORD. { A = ROLE_OPTION(GENERATED_PASSWORD); }

%type superuser {struct cql_role_option *}
superuser(A) ::= . { A = NULL; }
superuser(A) ::= SUPERUSER. { A = ROLE_OPTION(SUPERUSER, .is_on = true); }
superuser(A) ::= NOSUPERUSER. { A = ROLE_OPTION(SUPERUSER, .is_on = false); }

statement(A) ::= GRANT granted_role(R) TO role_name(G). {
    A = STATEMENT(GRANT_ROLE, .role_grant = {.role = R.text, .has_grantee = true,
                                             .grantee = G.text});
}
statement(A) ::= REVOKE granted_role(R) FROM role_name(G). {
    A = STATEMENT(REVOKE_ROLE, .role_grant = {.role = R.text, .has_grantee = true,
                                              .grantee = G.text});
}
statement(A) ::= GRANT permissions(M) ON resource(R) TO role_name(G). {
    A = STATEMENT(GRANT, .permissions = {.permissions = M, .resource = R, .has_role = true,
                                         .role = G.text});
}
statement(A) ::= REVOKE permissions(M) ON resource(R) FROM role_name(G). {
    A = STATEMENT(REVOKE, .permissions = {.permissions = M, .resource = R, .has_role = true,
                                          .role = G.text});
}
statement(A) ::= LIST permissions(M) of_role(G) no_recursive(N). {
    A = STATEMENT(LIST_PERMISSIONS, .permissions = {.permissions = M, .has_role = G.data != NULL,
                                                    .role = G, .no_recursive = N});
}
statement(A) ::= LIST permissions(M) ON resource(R) of_role(G) no_recursive(N). {
    A = STATEMENT(LIST_PERMISSIONS, .permissions = {.permissions = M, .resource = R,
                                                    .has_role = G.data != NULL, .role = G,
                                                    .no_recursive = N});
}
statement(A) ::= LIST ROLES of_role(G) no_recursive(N). {
    A = STATEMENT(LIST_ROLES, .role_grant = {.has_grantee = G.data != NULL, .grantee = G,
                                             .no_recursive = N});
}
statement(A) ::= LIST USERS. { A = STATEMENT(LIST_USERS); }
statement(A) ::= LIST SUPERUSERS. { A = STATEMENT(LIST_SUPERUSERS); }
statement(A) ::= ADD IDENTITY if_not_exists(I) role_name(N) TO ROLE role_name(R). {
    A = STATEMENT(ADD_IDENTITY, .identity = {.if_not_exists = I, .identity = N.text,
                                             .role = R.text});
}
statement(A) ::= DROP IDENTITY if_exists(I) role_name(N). {
    A = STATEMENT(DROP_IDENTITY, .identity = {.if_exists = I, .identity = N.text});
}

/* The name of a role may be one of these words, which also name permissions. */
%type granted_role {struct cql_token}
granted_role(A) ::= role_name(N). { A = N; }
granted_role(A) ::= ALL(N). { A = N; }
granted_role(A) ::= UNMASK(N). { A = N; }
granted_role(A) ::= SELECT_MASKED(N). { A = N; }

%type of_role {struct bytes}
of_role(A) ::= . { A = (struct bytes){0}; }
of_role(A) ::= OF role_name(N). { A = N.text; }

%type no_recursive {bool}
no_recursive(A) ::= . { A = false; }
no_recursive(A) ::= NORECURSIVE. { A = true; }

%type permissions {uint32_t}
permissions(A) ::= ALL. { A = CQL_PERMISSION_ALL; }
permissions(A) ::= ALL PERMISSIONS. { A = CQL_PERMISSION_ALL; }
permissions(A) ::= some_permissions(M). { A = M; }

%type some_permissions {uint32_t}
some_permissions(A) ::= permission(M). { A = M; }
some_permissions(A) ::= some_permissions(L) COMMA permission(M). { A = L | M; }

%type permission {uint32_t}
permission(A) ::= permission_word(M). { A = M; }
permission(A) ::= permission_word(M) PERMISSION. { A = M; }

%type permission_word {uint32_t}
permission_word(A) ::= CREATE. { A = CQL_PERMISSION_CREATE; }
permission_word(A) ::= ALTER. { A = CQL_PERMISSION_ALTER; }
permission_word(A) ::= DROP. { A = CQL_PERMISSION_DROP; }
permission_word(A) ::= SELECT. { A = CQL_PERMISSION_SELECT; }
permission_word(A) ::= MODIFY. { A = CQL_PERMISSION_MODIFY; }
permission_word(A) ::= AUTHORIZE. { A = CQL_PERMISSION_AUTHORIZE; }
permission_word(A) ::= DESCRIBE. { A = CQL_PERMISSION_DESCRIBE; }
permission_word(A) ::= EXECUTE. { A = CQL_PERMISSION_EXECUTE; }
permission_word(A) ::= UNMASK. { A = CQL_PERMISSION_UNMASK; }
permission_word(A) ::= SELECT_MASKED. { A = CQL_PERMISSION_SELECT_MASKED; }

%type resource {struct cql_resource}
resource(A) ::= ALL KEYSPACES. { A = RESOURCE(ALL_KEYSPACES); }
resource(A) ::= keyspace_word name(N). { A = RESOURCE(KEYSPACE, .name.name = N.text); }
resource(A) ::= qualified(N). { A = RESOURCE(TABLE, .name = N); }
resource(A) ::= TABLE qualified(N). { A = RESOURCE(TABLE, .name = N); }
resource(A) ::= ALL TABLES IN keyspace_word name(N). {
    A = RESOURCE(ALL_TABLES, .name.name = N.text);
}
resource(A) ::= ALL ROLES. { A = RESOURCE(ALL_ROLES); }
resource(A) ::= ROLE role_name(N). { A = RESOURCE(ROLE, .name.name = N.text); }
resource(A) ::= ALL FUNCTIONS. { A = RESOURCE(ALL_FUNCTIONS); }
resource(A) ::= ALL FUNCTIONS IN keyspace_word name(N). {
    A = RESOURCE(KEYSPACE_FUNCTIONS, .name.name = N.text);
}
resource(A) ::= FUNCTION qualified(N) LP types_or_none(L) RP. {
    A = RESOURCE(FUNCTION, .name = N, .arguments = L.first);
}
resource(A) ::= ALL MBEANS. { A = RESOURCE(ALL_MBEANS); }
resource(A) ::= MBEAN STRING(T). { A = RESOURCE(MBEAN, .name.name = T.text); }
resource(A) ::= MBEANS STRING(T). { A = RESOURCE(MBEANS, .name.name = T.text); }

/* A table whose name is a word with which a resource of another kind begins. */
resource(A) ::= resource_word(N). { A = RESOURCE(TABLE, .name.name = N.text); }

%type resource_word {struct cql_token}
resource_word(A) ::= ALL(N). { A = N; }
resource_word(A) ::= ROLE(N). { A = N; }
resource_word(A) ::= FUNCTION(N). { A = N; }
resource_word(A) ::= MBEAN(N). { A = N; }
resource_word(A) ::= MBEANS(N). { A = N; }

/* ---- DESCRIBE ---- */

statement(A) ::= DESCRIBE|DESC described(D) with_internals(I). {
    D.with_internals = I;
    A = STATEMENT(DESCRIBE, .describe = D);
}

%type with_internals {bool}
with_internals(A) ::= . { A = false; }
with_internals(A) ::= WITH INTERNALS. { A = true; }

%type described {struct cql_describe}
described(A) ::= CLUSTER. { A = DESCRIBED(CLUSTER); }
described(A) ::= SCHEMA. { A = DESCRIBED(SCHEMA); }
described(A) ::= FULL SCHEMA. { A = DESCRIBED(FULL_SCHEMA); }
described(A) ::= KEYSPACES. { A = DESCRIBED(KEYSPACES); }
described(A) ::= KEYSPACE. { A = DESCRIBED(KEYSPACE); }
described(A) ::= KEYSPACE name(N). { A = DESCRIBED(KEYSPACE, .name.name = N.text); }
described(A) ::= ONLY KEYSPACE. { A = DESCRIBED(ONLY_KEYSPACE); }
described(A) ::= ONLY KEYSPACE name(N). { A = DESCRIBED(ONLY_KEYSPACE, .name.name = N.text); }
described(A) ::= TABLES. { A = DESCRIBED(TABLES); }
described(A) ::= TABLE qualified(N). { A = DESCRIBED(TABLE, .name = N); }
described(A) ::= INDEX qualified(N). { A = DESCRIBED(INDEX, .name = N); }
described(A) ::= MATERIALIZED VIEW qualified(N). { A = DESCRIBED(VIEW, .name = N); }
described(A) ::= TYPES. { A = DESCRIBED(TYPES); }
described(A) ::= TYPE qualified(N). { A = DESCRIBED(TYPE, .name = N); }
described(A) ::= FUNCTIONS. { A = DESCRIBED(FUNCTIONS); }
described(A) ::= FUNCTION qualified(N). { A = DESCRIBED(FUNCTION, .name = N); }
described(A) ::= AGGREGATES. { A = DESCRIBED(AGGREGATES); }
described(A) ::= AGGREGATE qualified(N). { A = DESCRIBED(AGGREGATE, .name = N); }
described(A) ::= qualified(N). { A = DESCRIBED(ANY, .name = N); }
described(A) ::= described_word(N). { A = DESCRIBED(ANY, .name.name = N.text); }

/* The name of an object that is also a keyword after DESCRIBE. */
%type described_word {struct cql_token}
described_word(A) ::= ONLY(N). { A = N; }
described_word(A) ::= TYPE(N). { A = N; }
described_word(A) ::= FUNCTION(N). { A = N; }
described_word(A) ::= AGGREGATE(N). { A = N; }

/* ---- running the parser ---- */

%code {
static bool grammar_accepts(const yyParser *parser, YYCODETYPE token)
{
    YYACTIONTYPE states[YYSTACKDEPTH];
    size_t top = (size_t)(parser->yytos - parser->yystack);

    for (size_t i = 0; i <= top; i++)
        states[i] = parser->yystack[i].stateno;
    for (;;) {
        YYACTIONTYPE action = states[top];

        if (action <= YY_MAX_SHIFT)
            action = yy_find_shift_action(token, action);
        if (action < YY_MIN_REDUCE)
            return action != YY_ERROR_ACTION;
        action = (YYACTIONTYPE)(action - YY_MIN_REDUCE);
        top -= (size_t)-yyRuleInfoNRhs[action];
        if (top + 1 == YYSTACKDEPTH)
            return false;
        states[top + 1] = yy_find_reduce_action(states[top], yyRuleInfoLhs[action]);
        top++;
    }
}

/* Whether a token only continues a term or list that is complete without it. */
static bool grammar_is_addition(YYCODETYPE token)
{
    static const YYCODETYPE additions[] = {CQL_TOKEN_COMMA, CQL_TOKEN_DOT,     CQL_TOKEN_PLUS,
                                           CQL_TOKEN_MINUS, CQL_TOKEN_STAR,    CQL_TOKEN_SLASH,
                                           CQL_TOKEN_LT,    CQL_TOKEN_PERCENT};

    for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++) {
        if (additions[i] == token)
            return true;
    }
    return false;
}

/* The kind of token that Cassandra's error calls expected: the only one that could come next.  -1:
 * several could come. */
static int grammar_expected(const yyParser *parser)
{
    /* If one of these kinds fits, the error names it, even if others fit, too. */
    static const YYCODETYPE ends[] = {CQL_TOKEN_END, CQL_TOKEN_FROM, CQL_TOKEN_WHERE,
                                      CQL_TOKEN_SET, CQL_TOKEN_APPLY, CQL_TOKEN_BATCH};
    bool could_add = grammar_accepts(parser, CQL_TOKEN_PLUS) ||
                     grammar_accepts(parser, CQL_TOKEN_DOT);
    int found = -1;

    if (grammar_accepts(parser, CQL_TOKEN_FROM) && !could_add)
        return CQL_TOKEN_FROM;
    if (grammar_accepts(parser, CQL_TOKEN_NAME) ||
        (could_add && grammar_accepts(parser, CQL_TOKEN_END)))
        return -1;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (grammar_accepts(parser, ends[i]))
            return ends[i];
    }
    for (YYCODETYPE token = 1; token < YYNTOKEN; token++) {
        if (grammar_is_addition(token) || !grammar_accepts(parser, token))
            continue;
        if (found >= 0)
            return -1;
        found = token;
    }
    return found;
}

int cql_grammar_run(struct cql_builder *builder, uint32_t tokens_max)
{
    struct cql_token token = {0};
    yyParser parser;

    cql_grammarInit(&parser);
    for (uint32_t count = 0; builder->failure == 0; count++) {
        if (cql_lexer_next(builder->lexer, &token, builder->err) < 0)
            return ERROR_INVALID;
        if (count > tokens_max)
            return error_set(builder->err, ERROR_LIMIT, "a statement of more than %u tokens",
                             tokens_max);
        cql_grammar(&parser, token.kind, token, builder);
        if (token.kind == CQL_TOKEN_END)
            break;
    }
    return builder->failure;
}
}
