#ifndef PUSHMTA_CONSOLE_FILES_H
#define PUSHMTA_CONSOLE_FILES_H

/// A file of the console's pages, as it was when the program was built.
struct console_file {
    /// Its name without the folder; null behind the last file.
    const char *name;
    /// Its text.
    const char *text;
};

/// The files by their index from 0 on.
struct console_file console_file_at(int index);

#endif
