package io.pushmta.sdk;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Makes the calls of a {@link PushClient} in the background, in order.
 *
 * <p>Listeners are called on a thread of the runner, or by an executor that the app supplies, such as one for its main
 * thread.
 */
public final class AsyncRunner {
    /** Gets the outcome of a call. Exactly one of the three methods is called. */
    public interface RequestListener {
        /** The server has it. */
        void onComplete(String response, Object state);

        /** A setting is missing, or the server refused. */
        void onPushException(PushException error, Object state);

        /** The server could not be reached. The request is kept and retried. */
        void onIOException(IOException error, Object state);
    }

    private interface Call {
        void run() throws PushException, IOException;
    }

    /** Registrations and hits may have different servers, so neither waits for the other. */
    private static final Executor REGISTRATIONS = thread("pushmta-runner-registration");
    private static final Executor HITS = thread("pushmta-runner-tracking");

    private final PushClient client;
    private final Executor listeners;

    /** Makes a runner whose listeners are called on one of its threads. */
    public AsyncRunner(PushClient client) {
        this(client, Runnable::run);
    }

    /** Makes a runner whose listeners are called by the executor. */
    public AsyncRunner(PushClient client, Executor listeners) {
        this.client = client;
        this.listeners = listeners;
    }

    /** See {@link PushClient#registerDevice}. The listener may be null. */
    public void registerDevice(final String token, final String userKey, final Map<String, ?> parameters,
            final DeviceInfo device, RequestListener listener) {
        // Read the map now, as the caller may change it later.
        final String document = PushClient.document(parameters);
        run(REGISTRATIONS, () -> client.register(token, userKey, document, device), listener, token);
    }

    /** See {@link PushClient#refreshToken}. */
    public void refreshToken(final String token, RequestListener listener) {
        run(REGISTRATIONS, () -> client.refreshToken(token), listener, token);
    }

    /** See {@link PushClient#setOptOut}. */
    public void setOptOut(final boolean optedOut, RequestListener listener) {
        run(REGISTRATIONS, () -> client.setOptOut(optedOut), listener, optedOut);
    }

    /** See {@link PushClient#setOptOut(String, boolean)}. */
    public void setOptOut(final String category, final boolean optedOut, RequestListener listener) {
        run(REGISTRATIONS, () -> client.setOptOut(category, optedOut), listener, optedOut);
    }

    /** See {@link PushClient#notifyReceive(String, String)}. */
    public void notifyReceive(final String messageId, final String deliveryId, RequestListener listener) {
        run(HITS, () -> client.notifyReceive(messageId, deliveryId), listener, messageId);
    }

    /** See {@link PushClient#notifyReceive(Integer, String)}. */
    public void notifyReceive(final Integer messageId, final String deliveryId, RequestListener listener) {
        run(HITS, () -> client.notifyReceive(messageId, deliveryId), listener, messageId);
    }

    /** See {@link PushClient#notifyOpening(String, String)}. */
    public void notifyOpening(final String messageId, final String deliveryId, RequestListener listener) {
        run(HITS, () -> client.notifyOpening(messageId, deliveryId), listener, messageId);
    }

    /** See {@link PushClient#notifyOpening(Integer, String)}. */
    public void notifyOpening(final Integer messageId, final String deliveryId, RequestListener listener) {
        run(HITS, () -> client.notifyOpening(messageId, deliveryId), listener, messageId);
    }

    /** See {@link PushClient#recordConversion}. */
    public void recordConversion(final String name, final Double value, RequestListener listener) {
        run(HITS, () -> client.recordConversion(name, value), listener, name);
    }

    private void run(Executor executor, final Call call, final RequestListener listener, final Object state) {
        executor.execute(() -> {
            Runnable tell = end(call, listener, state);
            if (listener != null) {
                listeners.execute(tell);
            }
        });
    }

    private static Runnable end(Call call, final RequestListener listener, final Object state) {
        try {
            call.run();
            return () -> listener.onComplete("", state);
        } catch (final PushException error) {
            return () -> listener.onPushException(error, state);
        } catch (final IOException error) {
            return () -> listener.onIOException(error, state);
        }
    }

    private static Executor thread(final String name) {
        return Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
    }
}
