package io.pushmta.sdk;

import java.util.Random;

/** The pauses between attempts. */
final class BackOff {
    /** The first pause, long enough for a phone to switch networks. */
    static final long FIRST_MILLIS = 5_000;
    /** The maximum pause, so that a device that was offline for long is seen within an hour. */
    static final long LONGEST_MILLIS = 3_600_000;
    /** The maximum of {@code Retry-After}: no server may silence a device for longer. */
    static final long LONGEST_ASKED_MILLIS = 86_400_000;

    private final long first;
    private final Random dice;
    private int failures;

    BackOff(long firstMillis, long seed) {
        first = firstMillis;
        dice = new Random(seed);
    }

    /**
     * The pause before the next attempt, in milliseconds. It doubles with each failure and is a random value between
     * half and the whole of that, so that devices that lost a server together do not return together. A server may ask
     * for more.
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
