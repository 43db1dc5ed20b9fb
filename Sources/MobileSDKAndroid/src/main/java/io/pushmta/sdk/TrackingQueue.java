package io.pushmta.sdk;

import java.util.ArrayList;
import java.util.List;

/** The hits that are still to be sent, in order; a value without I/O, for one thread. */
final class TrackingQueue {
    /** The maximum number of queued hits, more than a user causes offline. Beyond it the oldest is dropped. */
    static final int MOST_HITS = 100;
    /** The maximum number of failed answers to a hit, so that it does not block the others forever. */
    static final int MOST_REFUSALS = 10;

    /** A hit. */
    static final class Hit {
        final String path;
        int refusals;

        Hit(String path) {
            this.path = path;
        }
    }

    private final List<Hit> hits = new ArrayList<>();

    /** Puts stored hits before new ones. Lines that {@link #text} did not write are ignored. */
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

    /** The next hit to send, or null. */
    Hit first() {
        return hits.isEmpty() ? null : hits.get(0);
    }

    boolean contains(Hit hit) {
        return hits.contains(hit);
    }

    /** Notes that the server has accepted or refused it. */
    void remove(Hit hit) {
        hits.remove(hit);
    }

    /** Notes that the server could not accept it: it is retried, but not forever. */
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
