package io.pushmta.sdk;

import java.util.Random;

/** Back-off, and the state that outlives the process. */
final class StateTests {
    void testBackOffDoublesToAnHour() {
        BackOff backOff = new BackOff(BackOff.FIRST_MILLIS, 7);
        for (int failure = 0; failure < 40; failure++) {
            long whole = Math.min(5_000L << Math.min(failure, 20), 3_600_000L);
            long wait = backOff.next(0);
            Check.isTrue(wait >= whole / 2 && wait <= whole, "wait " + failure + " is " + wait);
        }
        Check.equal(backOff.next(4_000_000), 4_000_000L);
        Check.equal(backOff.next(Long.MAX_VALUE), BackOff.LONGEST_ASKED_MILLIS);
        backOff.reset();
        Check.isTrue(backOff.next(0) <= 5_000, "from the beginning");
    }

    void testRecordIsReadAsItWasWritten() {
        RegistrationState state = new RegistrationState();
        Registration wanted = Samples.registration("me & \u7f51\n", Samples.PARAMETERS);
        Check.isTrue(state.want(wanted, "https://a key"), "new");
        RegistrationState next = new RegistrationState();
        next.restore(state.text());
        Check.equal(next.text(), state.text());
        Check.equal(next.pending().body("key"), wanted.body("key"));
        next.accepted(next.pending(), "https://a key");
        state.restore(next.text());
        Check.isTrue(!state.want(wanted, "https://a key") && state.pending() == null, "known");
        Check.isTrue(state.want(wanted, "https://b key"), "another server does not know it");
    }

    /** The answer was lost, so it is unknown which of the two the server has. */
    void testAfterALostAnswerTheOldDataIsNew() {
        RegistrationState state = new RegistrationState();
        Registration first = Samples.registration("one", null);
        state.want(first, "d");
        state.sending();
        state.accepted(first, "d");
        Check.isTrue(state.want(Samples.registration("two", null), "d"), "new");
        Check.isTrue(!state.want(first, "d"), "two was never sent");
        state.want(Samples.registration("two", null), "d");
        state.sending();
        Check.isTrue(state.want(first, "d"), "two may be there");
    }

    void testDamagedTexts() {
        RegistrationState whole = new RegistrationState();
        whole.want(Samples.registration("user", Samples.PARAMETERS), "d");
        long seed = System.nanoTime();
        Random dice = new Random(seed);
        for (int round = 0; round < 2_000; round++) {
            StringBuilder text = new StringBuilder(whole.text());
            for (int change = 0; change < 4 && text.length() > 0; change++) {
                int place = dice.nextInt(text.length());
                if (dice.nextBoolean()) {
                    text.deleteCharAt(place);
                } else {
                    text.setCharAt(place, (char) dice.nextInt(0x250));
                }
            }
            RegistrationState state = new RegistrationState();
            try {
                state.restore(text.toString());
                if (state.pending() != null) {
                    state.pending().body("key");
                }
            } catch (RuntimeException error) {
                throw new AssertionError("seed " + seed + ": " + text, error);
            }
        }
    }

    void testQueue() {
        TrackingQueue queue = new TrackingQueue();
        for (int index = 0; index < TrackingQueue.MOST_HITS + 5; index++) {
            queue.add("/r/?id=h" + index + ",d,1");
        }
        Check.equal(queue.first().path, "/r/?id=h5,d,1");
        TrackingQueue next = new TrackingQueue();
        next.restore("no hit\n" + queue.text() + "/elsewhere");
        Check.equal(next.text(), queue.text());
        TrackingQueue.Hit bad = next.first();
        for (int refusal = 1; refusal < TrackingQueue.MOST_REFUSALS; refusal++) {
            next.failed(bad);
            Check.isTrue(next.contains(bad), "once more");
        }
        next.failed(bad);
        Check.isTrue(!next.contains(bad), "it does not keep the others back for ever");
    }
}
