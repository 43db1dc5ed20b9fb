package io.pushmta.sdk;

/** Decides which registration is still to be sent; a value without I/O, for one thread. */
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

    /** The newest registration that the app requested, or null. */
    Registration last() {
        return record.last;
    }

    /** Fills in omitted parameters: the same user keeps the last ones, and a new user has none. */
    Registration complete(Registration wanted) {
        Registration last = record.last;
        String kept = last != null && last.userKey.equals(wanted.userKey) ? last.parameters : null;
        String parameters = ParametersXml.completed(wanted.parameters, kept);
        return new Registration(wanted.token, wanted.userKey, parameters, wanted.device);
    }

    /**
     * Keeps the opt-out choice, for the registered user or for the one who registers next. An opt-out is sent with
     * every registration of that user. An opt-in is sent once, because a choice made elsewhere later is newer.
     */
    void say(boolean optedOut) {
        if (record.last == null) {
            record.nextWord = optedOut;
        } else {
            record.words.put(record.last.userKey, optedOut);
        }
    }

    /** The registration with its user's opt-out choice. */
    Registration worded(Registration wanted) {
        if (record.nextWord != null) {
            record.words.put(wanted.userKey, record.nextWord);
            record.nextWord = null;
        }
        return wanted.saying(record.words.get(wanted.userKey));
    }

    /** Notes the registration that the app requests; false if the server already has it. */
    boolean want(Registration wanted, String destination) {
        record.last = wanted;
        boolean isNew = !mark(wanted, destination).equals(record.registered);
        record.pending = isNew ? wanted : null;
        return isNew;
    }

    /** Notes that a registration is sent: until the answer it is unknown which one the server has. */
    void sending() {
        record.registered = null;
    }

    /** Notes that the server has accepted it. */
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

    /** Notes that the server has refused it. */
    void refused() {
        record.pending = null;
    }

    /** Forgets the registration, but not the opt-out choices. */
    void forget() {
        record.registered = null;
        record.pending = null;
        record.last = null;
    }

    /** Includes server and application: another one does not have the registration. */
    private static String mark(Registration registration, String destination) {
        return registration.mark() + " " + destination;
    }
}
