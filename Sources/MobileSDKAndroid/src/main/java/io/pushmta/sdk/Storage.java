package io.pushmta.sdk;

import java.io.IOException;

/** Stores state that must outlive the process. */
public interface Storage {
    /** Reads the text stored under a name; null if there is none. */
    String read(String name) throws IOException;

    /** Writes a text atomically. */
    void write(String name, String text) throws IOException;
}
