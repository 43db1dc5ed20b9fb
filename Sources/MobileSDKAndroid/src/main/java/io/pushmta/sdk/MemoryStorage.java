package io.pushmta.sdk;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Stores state in memory, until the process ends. */
public final class MemoryStorage implements Storage {
    private final Map<String, String> texts = new ConcurrentHashMap<>();

    @Override
    public String read(String name) {
        return texts.get(name);
    }

    @Override
    public void write(String name, String text) {
        texts.put(name, text);
    }
}
