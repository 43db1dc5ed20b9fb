package io.pushmta.sdk;

import java.io.IOException;

/** Keeps what has to outlive the process. */
public interface Storage {
    /** Reads what was written under the name; null when nothing was. */
    String read(String name) throws IOException;

    /** Writes all of it or nothing. */
    void write(String name, String text) throws IOException;
}
