package io.pushmta.sdk;

import java.io.IOException;

/**
 * Sends the newest registration to the server, once. It is stored before it is sent, and retried until the server
 * accepts or refuses it.
 */
final class Registrar {
    static final String NAME = "registration";

    private final Settings settings;
    private final Transport transport;
    private final Lane lane = new Lane("pushmta-registration");
    private final RegistrationState state = new RegistrationState();
    private final BackOff backOff;
    private Storage storage;

    Registrar(Settings settings, Transport transport, BackOff backOff) {
        this.settings = settings;
        this.transport = transport;
        this.backOff = backOff;
    }

    /** Continues with the state of an earlier process. */
    void restore(final Storage newStorage) {
        lane.execute(() -> {
            storage = newStorage;
            String text = null;
            try {
                text = newStorage.read(NAME);
            } catch (IOException error) {
                // Unreadable state counts as absent: the device registers again, which does no harm.
            }
            if (text != null) {
                state.restore(text);
            }
            retry();
        });
    }

    void register(Registration wanted) throws PushException, IOException {
        lane.call(() -> {
            registerHere(state.complete(wanted));
            return null;
        });
    }

    void refreshToken(String token) throws PushException, IOException {
        lane.call(() -> {
            Registration last = state.last();
            if (last == null) {
                throw new PushException(PushException.Code.NOTHING_REGISTERED,
                        "There is no registration whose token can be renewed: call registerDevice with the new token");
            }
            registerHere(new Registration(token, last.userKey, last.parameters, last.device));
            return null;
        });
    }

    /** Keeps the opt-out choice and sends it with the current registration; without one, with the next registration. */
    void setOptOut(boolean optedOut) throws PushException, IOException {
        lane.call(() -> {
            state.say(optedOut);
            tell();
            return null;
        });
    }

    /** The same for one category. */
    void setOptOut(String category, boolean optedOut) throws PushException, IOException {
        lane.call(() -> {
            state.say(category, optedOut);
            tell();
            return null;
        });
    }

    private void tell() throws PushException, IOException {
        store();
        Registration last = state.last();
        if (last != null) {
            registerHere(last);
        }
    }

    void retryNow() {
        lane.execute(this::retry);
    }

    void forget() {
        lane.execute(() -> {
            lane.cancelTimer();
            state.forget();
            store();
        });
    }

    private void registerHere(Registration plain) throws PushException, IOException {
        Registration wanted = state.worded(plain);
        String base = settings.marketingBase();
        String key = settings.integrationKey();
        lane.cancelTimer();
        backOff.reset();
        boolean isNew = state.want(wanted, base + " " + key);
        store();
        if (isNew) {
            send(wanted, base, key);
        }
    }

    /** An attempt without a waiting caller. */
    private void retry() {
        Registration pending = state.pending();
        if (pending == null) {
            return;
        }
        try {
            String base = settings.marketingBase();
            String key = settings.integrationKey();
            lane.cancelTimer();
            send(pending, base, key);
        } catch (PushException | IOException error) {
            // After a missing setting, setting it leads here again; a failure has its timer; a refusal is final.
        }
    }

    private void send(Registration wanted, String base, String key) throws PushException, IOException {
        state.sending();
        store();
        HttpAnswer answer;
        try {
            answer = transport.send(
                    new HttpRequest("POST", base + Registration.PATH, Registration.CONTENT_TYPE, wanted.body(key)));
        } catch (IOException error) {
            lane.schedule(this::retry, backOff.next(0));
            throw error;
        }
        if (answer.isSuccess()) {
            state.accepted(wanted, base + " " + key);
            backOff.reset();
            store();
            return;
        }
        if (answer.isWorthRetrying()) {
            lane.schedule(this::retry, backOff.next(answer.retryAfterMillis()));
        } else {
            state.refused();
            store();
        }
        boolean isUnknown = answer.getStatus() == 404;
        throw new PushException(
                isUnknown ? PushException.Code.UNKNOWN_INTEGRATION_KEY : PushException.Code.UNEXPECTED_ERROR, answer.reason());
    }

    /** State that cannot be written stays in memory; it is lost only if the process ends before the server has it. */
    private void store() {
        try {
            if (storage != null) {
                storage.write(NAME, state.text());
            }
        } catch (IOException error) {
            // See above.
        }
    }
}
