package io.pushmta.sdk;

import java.util.Random;

/** How long to wait before the next try. */
final class BackOff {
    /** Long enough for a phone to change from one network to another. */
    static final long FIRST_MILLIS = 5_000;
    /** A device that was off line for long is seen within an hour. */
    static final long LONGEST_MILLIS = 3_600_000;
    /** No server may silence a device for longer than this with {@code Retry-After}. */
    static final long LONGEST_ASKED_MILLIS = 86_400_000;

    private final long first;
    private final Random dice;
    private int failures;

    BackOff(long firstMillis, long seed) {
        first = firstMillis;
        dice = new Random(seed);
    }

    /**
     * The milliseconds until the next try: doubled with each failure, and between a half and the whole of it by chance, so that
     * the devices that lost a server together do not come back together. A server may ask for more.
     */
    long next(long askedMillis) {
        long whole = Math.min(first << Math.min(failures, 20), LONGEST_MILLIS);
        failures = Math.min(failures + 1, 20);
        long chosen = whole / 2 + (long) (dice.nextDouble() * (whole - whole / 2));
        return Math.max(chosen, Math.min(askedMillis, LONGEST_ASKED_MILLIS));
    }

    void reset() {
        failures = 0;
    }
}
