package io.pushmta.sdk;

/** What is to be sent and what need not be; a value without I/O, for one thread. */
final class RegistrationState {
    private RegistrationRecord record = new RegistrationRecord();

    void restore(String text) {
        record = RegistrationRecord.read(text);
    }

    String text() {
        return record.text();
    }

    Registration pending() {
        return record.pending;
    }

    /** The newest that the app asked for, or null. */
    Registration last() {
        return record.last;
    }

    /** Puts parameters where the app said nothing of them: those of the same user stay, and another user has none. */
    Registration complete(Registration wanted) {
        Registration last = record.last;
        String kept = last != null && last.userKey.equals(wanted.userKey) ? last.parameters : null;
        String parameters = ParametersXml.completed(wanted.parameters, kept);
        return new Registration(wanted.token, wanted.userKey, parameters, wanted.device);
    }

    /**
     * Keeps what the person says: of the user who is registered, or of the one who registers next. Out is said with every
     * registration of that user, in again until the server has it once: later words of others are newer.
     */
    void say(boolean optedOut) {
        if (record.last == null) {
            record.nextWord = optedOut;
        } else {
            record.words.put(record.last.userKey, optedOut);
        }
    }

    /** The registration with what its user says. */
    Registration worded(Registration wanted) {
        if (record.nextWord != null) {
            record.words.put(wanted.userKey, record.nextWord);
            record.nextWord = null;
        }
        return wanted.saying(record.words.get(wanted.userKey));
    }

    /** Takes in what the app wants; false when that server has it already. */
    boolean want(Registration wanted, String destination) {
        record.last = wanted;
        boolean isNew = !mark(wanted, destination).equals(record.registered);
        record.pending = isNew ? wanted : null;
        return isNew;
    }

    /** From now until the answer nobody knows which registration the server has. */
    void sending() {
        record.registered = null;
    }

    /** The server has it. */
    void accepted(Registration sent, String destination) {
        Registration settled = sent;
        if (Boolean.FALSE.equals(sent.optOut)) {
            record.words.remove(sent.userKey);
            settled = sent.saying(null);
            record.last = settled;
        }
        record.registered = mark(settled, destination);
        record.pending = null;
    }

    /** The server will not have it. */
    void refused() {
        record.pending = null;
    }

    /** What persons have said stays. */
    void forget() {
        record.registered = null;
        record.pending = null;
        record.last = null;
    }

    /** Another server, or another application, does not know what this one was told. */
    private static String mark(Registration registration, String destination) {
        return registration.mark() + " " + destination;
    }
}
