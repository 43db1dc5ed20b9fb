package io.pushmta.sdk;

import java.util.ArrayList;
import java.util.List;

/** Hits that the server does not have yet, in order; a value without I/O, for one thread. */
final class TrackingQueue {
    /** More hits than a person makes off line; beyond, the oldest goes. */
    static final int MOST_HITS = 100;
    /** A hit that the server fails at so often shall not keep the others back for ever. */
    static final int MOST_REFUSALS = 10;

    /** One hit. */
    static final class Hit {
        final String path;
        int refusals;

        Hit(String path) {
            this.path = path;
        }
    }

    private final List<Hit> hits = new ArrayList<>();

    /** Puts kept hits before those that came meanwhile. What {@link #text} did not write is left out. */
    void restore(String text) {
        List<Hit> kept = new ArrayList<>();
        for (String line : (text == null ? "" : text).split("\n")) {
            if (line.startsWith("/r/?")) {
                kept.add(new Hit(line));
            }
        }
        hits.addAll(0, kept);
        trim();
    }

    String text() {
        StringBuilder result = new StringBuilder();
        for (Hit hit : hits) {
            result.append(hit.path).append('\n');
        }
        return result.toString();
    }

    Hit add(String path) {
        Hit hit = new Hit(path);
        hits.add(hit);
        trim();
        return hit;
    }

    /** The next one to send, or null. */
    Hit first() {
        return hits.isEmpty() ? null : hits.get(0);
    }

    boolean contains(Hit hit) {
        return hits.contains(hit);
    }

    /** The server has it or refused it. */
    void remove(Hit hit) {
        hits.remove(hit);
    }

    /** The server could not take it: it is tried again, but not for ever. */
    void failed(Hit hit) {
        hit.refusals++;
        if (hit.refusals >= MOST_REFUSALS) {
            remove(hit);
        }
    }

    private void trim() {
        while (hits.size() > MOST_HITS) {
            hits.remove(0);
        }
    }
}
