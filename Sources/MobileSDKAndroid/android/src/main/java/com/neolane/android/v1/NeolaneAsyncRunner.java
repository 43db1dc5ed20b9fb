package com.neolane.android.v1;

import android.content.Context;
import io.pushmta.sdk.AsyncRunner;
import io.pushmta.sdk.PushException;
import io.pushmta.sdk.android.AndroidDevice;
import io.pushmta.sdk.android.PushMTA;
import java.io.IOException;
import java.util.Map;

/**
 * Makes the calls of {@link Neolane} in the background, in order. Listeners are called there too, not on the main
 * thread.
 */
public final class NeolaneAsyncRunner {
    /** Gets the outcome of a call. Exactly one of the three methods is called. */
    public interface RequestListener {
        /** The server has it. */
        void onComplete(String response, Object state);

        /** A setting is missing, or the server refused. */
        void onNeolaneException(NeolaneException error, Object state);

        /** The server could not be reached. The request is kept and retried. */
        void onIOException(IOException error, Object state);
    }

    private final AsyncRunner runner;

    /** Makes a runner for the app's instance. */
    public NeolaneAsyncRunner(Neolane neolane) {
        runner = new AsyncRunner(neolane.client);
    }

    /** See {@link Neolane#registerDevice}. The listener may be null. */
    public void registerDevice(String token, String userKey, Map<String, ?> parameters, Context context,
            RequestListener listener) {
        PushMTA.keepState(context);
        runner.registerDevice(token, userKey, parameters, AndroidDevice.describe(context), heard(listener));
    }

    /** See {@link Neolane#notifyReceive(String, String)}. */
    public void notifyReceive(String messageId, String deliveryId, RequestListener listener) {
        runner.notifyReceive(messageId, deliveryId, heard(listener));
    }

    /** See {@link Neolane#notifyReceive(Integer, String)}. */
    public void notifyReceive(Integer messageId, String deliveryId, RequestListener listener) {
        notifyReceive(Neolane.text(messageId), deliveryId, listener);
    }

    /** See {@link Neolane#notifyReceive(String, Integer)}. */
    public void notifyReceive(String messageId, Integer deliveryId, RequestListener listener) {
        notifyReceive(messageId, Neolane.text(deliveryId), listener);
    }

    /** See {@link Neolane#notifyReceive(Integer, Integer)}. */
    public void notifyReceive(Integer messageId, Integer deliveryId, RequestListener listener) {
        notifyReceive(Neolane.text(messageId), Neolane.text(deliveryId), listener);
    }

    /** See {@link Neolane#notifyOpening(String, String)}. */
    public void notifyOpening(String messageId, String deliveryId, RequestListener listener) {
        runner.notifyOpening(messageId, deliveryId, heard(listener));
    }

    /** See {@link Neolane#notifyOpening(Integer, String)}. */
    public void notifyOpening(Integer messageId, String deliveryId, RequestListener listener) {
        notifyOpening(Neolane.text(messageId), deliveryId, listener);
    }

    /** See {@link Neolane#notifyOpening(String, Integer)}. */
    public void notifyOpening(String messageId, Integer deliveryId, RequestListener listener) {
        notifyOpening(messageId, Neolane.text(deliveryId), listener);
    }

    /** See {@link Neolane#notifyOpening(Integer, Integer)}. */
    public void notifyOpening(Integer messageId, Integer deliveryId, RequestListener listener) {
        notifyOpening(Neolane.text(messageId), Neolane.text(deliveryId), listener);
    }

    private static AsyncRunner.RequestListener heard(final RequestListener listener) {
        return listener == null ? null : new AsyncRunner.RequestListener() {
            @Override
            public void onComplete(String response, Object state) {
                listener.onComplete(response, state);
            }

            @Override
            public void onPushException(PushException error, Object state) {
                listener.onNeolaneException(new NeolaneException(error), state);
            }

            @Override
            public void onIOException(IOException error, Object state) {
                listener.onIOException(error, state);
            }
        };
    }
}
