#ifndef PUSHMTA_SCHEMA_H
#define PUSHMTA_SCHEMA_H

/// A file of the database's schema, as it was when the program was built.
struct schema_file {
    /// The version of the schema that it belongs to; 0 after the last file.
    int version;
    /// Its name without the folder.
    const char *name;
    /// Its text.
    const char *text;
};

/// The file with this index, from 0, in the order of application.
struct schema_file schema_file_at(int index);

/// The query that returns the GRANT statements that roles still lack.
const char *schema_rights(void);

#endif
