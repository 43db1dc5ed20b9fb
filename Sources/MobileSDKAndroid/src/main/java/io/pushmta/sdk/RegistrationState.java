package io.pushmta.sdk;

import java.util.Collections;
import java.util.Map;

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

    /** The same for one category. */
    void say(String category, boolean optedOut) {
        if (record.last == null) {
            record.nextCategories.put(category, optedOut);
        } else {
            record.categoriesOf(record.last.userKey).put(category, optedOut);
        }
    }

    /** The registration with its user's opt-out choices. */
    Registration worded(Registration wanted) {
        if (record.nextWord != null) {
            record.words.put(wanted.userKey, record.nextWord);
            record.nextWord = null;
        }
        if (!record.nextCategories.isEmpty()) {
            record.categoriesOf(wanted.userKey).putAll(record.nextCategories);
            record.nextCategories.clear();
        }
        return wanted.saying(record.words.get(wanted.userKey), record.categories.get(wanted.userKey));
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
        if (Boolean.FALSE.equals(sent.optOut)) {
            record.words.remove(sent.userKey);
        }
        Map<String, Boolean> own = record.categories.get(sent.userKey);
        if (own != null) {
            own.values().removeAll(Collections.singleton(false));
            if (own.isEmpty()) {
                record.categories.remove(sent.userKey);
            }
        }
        Registration settled = sent.settled();
        record.last = settled;
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
