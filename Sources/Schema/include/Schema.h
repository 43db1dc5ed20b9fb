#ifndef PUSHMTA_SCHEMA_H
#define PUSHMTA_SCHEMA_H

/// A file of the database's schema, as it was when the program was built.
struct schema_file {
    /// The version of the schema that it belongs to; 0 behind the last file.
    int version;
    /// Its name without the folder.
    const char *name;
    /// Its text.
    const char *text;
};

/// The files in the order in which they are applied, by their index from 0 on.
struct schema_file schema_file_at(int index);

/// The query that gives the statements by which roles get the rights that they lack.
const char *schema_rights(void);

#endif
