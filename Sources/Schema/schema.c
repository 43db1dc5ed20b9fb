// Schema: the database's schema, as SQL files that are built into the program.
//
// WHAT IT DOES
//   Holds the SQL files of this folder, unchanged, as they were when the program was built, so that migration needs no files.
//   Schema pushmta_engine has the tables. Schema pushmta is the contract with other systems: views, functions, and two tables
//   that they fill. rights.sql is a query that returns the GRANT statements that roles still lack.
//
// HOW IT IS USED
//   Only Store imports it. schema_file_at(index) returns the version, name and text of each file in the order of application,
//   and version 0 after the last one. schema_rights() returns the query. SchemaVersion turns the files into versions with
//   checksums, Migrator applies what a database lacks, and SchemaRoles runs the query.
//
// HOW A FILE IS ADDED
//   It gets two entries here: its text (#embed) and its place in the list. Until the first release, a change edits the file in
//   version1 that defines the object; migrations/README.md has the rules after it.
//
// STATE AND FILES
//   Constants only. The database keeps the version, name and checksum of each applied file in pushmta_engine.schema_version.
//
// FAILURES
//   It cannot fail: an index outside the list returns its end. A missing file is an error of the build.
//
// SEE ALSO
//   include/Schema.h, version1/01-foundations.sql, version1/05-parts.sql, version1/15-contract.sql, rights.sql,
//   Sources/Store/Schema/Migrator.swift, Deploy/guide/upgrade.md

#include "Schema.h"

// clang accepts #embed, which is C23, in every mode, but warns about it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char foundations[] = {
#embed "version1/01-foundations.sql" suffix(, 0)
};
static const char applications[] = {
#embed "version1/02-applications.sql" suffix(, 0)
};
static const char devices[] = {
#embed "version1/03-devices.sql" suffix(, 0)
};
static const char deliveries[] = {
#embed "version1/04-deliveries.sql" suffix(, 0)
};
static const char parts[] = {
#embed "version1/05-parts.sql" suffix(, 0)
};
static const char logs[] = {
#embed "version1/06-logs.sql" suffix(, 0)
};
static const char checks[] = {
#embed "version1/07-checks.sql" suffix(, 0)
};
static const char control[] = {
#embed "version1/08-control.sql" suffix(, 0)
};
static const char messages[] = {
#embed "version1/09-messages.sql" suffix(, 0)
};
static const char tokens[] = {
#embed "version1/10-tokens.sql" suffix(, 0)
};
static const char console[] = {
#embed "version1/11-console.sql" suffix(, 0)
};
static const char statistics[] = {
#embed "version1/12-statistics.sql" suffix(, 0)
};
static const char feedback[] = {
#embed "version1/13-feedback.sql" suffix(, 0)
};
static const char retention[] = {
#embed "version1/14-retention.sql" suffix(, 0)
};
static const char contract[] = {
#embed "version1/15-contract.sql" suffix(, 0)
};
static const char templates[] = {
#embed "version1/16-templates.sql" suffix(, 0)
};
static const char api[] = {
#embed "version1/17-api.sql" suffix(, 0)
};
static const char rates[] = {
#embed "version1/18-rates.sql" suffix(, 0)
};
static const char alarms[] = {
#embed "version1/19-alarms.sql" suffix(, 0)
};
static const char audit[] = {
#embed "version1/20-audit.sql" suffix(, 0)
};
static const char filters[] = {
#embed "version1/21-filters.sql" suffix(, 0)
};
static const char analysis[] = {
#embed "version1/22-analysis.sql" suffix(, 0)
};
static const char editing[] = {
#embed "version1/23-editing.sql" suffix(, 0)
};
static const char categories[] = {
#embed "version1/24-categories.sql" suffix(, 0)
};
static const char looks[] = {
#embed "version1/24-looks.sql" suffix(, 0)
};
static const char plans[] = {
#embed "version1/25-plans.sql" suffix(, 0)
};
static const char recurrences[] = {
#embed "version1/26-recurrence.sql" suffix(, 0)
};
static const char approval[] = {
#embed "version1/27-approval.sql" suffix(, 0)
};
static const char recall[] = {
#embed "version1/28-recall.sql" suffix(, 0)
};
static const char signals[] = {
#embed "version1/29-signals.sql" suffix(, 0)
};
static const char events[] = {
#embed "version1/30-events.sql" suffix(, 0)
};
static const char webhooks[] = {
#embed "version1/30-webhooks.sql" suffix(, 0)
};
static const char caps[] = {
#embed "version1/31-caps.sql" suffix(, 0)
};
static const char behaviour[] = {
#embed "version1/32-behaviour.sql" suffix(, 0)
};
static const char experiments[] = {
#embed "version1/33-experiments.sql" suffix(, 0)
};
static const char audiences[] = {
#embed "version1/34-audiences.sql" suffix(, 0)
};
static const char lists[] = {
#embed "version1/35-lists.sql" suffix(, 0)
};
static const char roles[] = {
#embed "version1/90-roles.sql" suffix(, 0)
};
static const char rights[] = {
#embed "rights.sql" suffix(, 0)
};

static const struct schema_file files[] = {
    {1, "01-foundations.sql", foundations},
    {1, "02-applications.sql", applications},
    {1, "03-devices.sql", devices},
    {1, "04-deliveries.sql", deliveries},
    {1, "05-parts.sql", parts},
    {1, "06-logs.sql", logs},
    {1, "07-checks.sql", checks},
    {1, "08-control.sql", control},
    {1, "09-messages.sql", messages},
    {1, "10-tokens.sql", tokens},
    {1, "11-console.sql", console},
    {1, "12-statistics.sql", statistics},
    {1, "13-feedback.sql", feedback},
    {1, "14-retention.sql", retention},
    {1, "15-contract.sql", contract},
    {1, "16-templates.sql", templates},
    {1, "17-api.sql", api},
    {1, "18-rates.sql", rates},
    {1, "19-alarms.sql", alarms},
    {1, "20-audit.sql", audit},
    {1, "21-filters.sql", filters},
    {1, "22-analysis.sql", analysis},
    {1, "23-editing.sql", editing},
    {1, "24-categories.sql", categories},
    {1, "24-looks.sql", looks},
    {1, "25-plans.sql", plans},
    {1, "26-recurrence.sql", recurrences},
    {1, "27-approval.sql", approval},
    {1, "28-recall.sql", recall},
    {1, "29-signals.sql", signals},
    {1, "30-events.sql", events},
    {1, "30-webhooks.sql", webhooks},
    {1, "31-caps.sql", caps},
    {1, "32-behaviour.sql", behaviour},
    {1, "33-experiments.sql", experiments},
    {1, "34-audiences.sql", audiences},
    {1, "35-lists.sql", lists},
    {1, "90-roles.sql", roles},
    {0, 0, 0},
};

struct schema_file schema_file_at(int index) {
    const int last = sizeof files / sizeof *files - 1;
    return files[index < 0 || index > last ? last : index];
}

const char *schema_rights(void) {
    return rights;
}
