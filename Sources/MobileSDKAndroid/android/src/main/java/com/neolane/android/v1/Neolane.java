package com.neolane.android.v1;

import android.content.Context;
import io.pushmta.sdk.PushClient;
import io.pushmta.sdk.PushException;
import io.pushmta.sdk.android.AndroidDevice;
import io.pushmta.sdk.android.PushMTA;
import java.io.IOException;
import java.util.Map;

/**
 * The calls of Adobe's Campaign SDK, for apps that use it; {@link PushClient} carries them out.
 *
 * <p>The calls wait for the server, so do not make them on the main thread: {@link NeolaneAsyncRunner} makes them in
 * the background. Unlike Adobe's SDK, this one keeps and retries what could not be sent.
 */
public final class Neolane {
    private static final Neolane SHARED = new Neolane(PushClient.getInstance());

    final PushClient client;

    private Neolane(PushClient client) {
        this.client = client;
    }

    /** The app's instance. */
    public static Neolane getInstance() {
        return SHARED;
    }

    /** See {@link PushClient#setIntegrationKey}. */
    public void setIntegrationKey(String key) {
        client.setIntegrationKey(key);
    }

    /** See {@link PushClient#setMarketingHost}. */
    public void setMarketingHost(String host) {
        client.setMarketingHost(host);
    }

    /** See {@link PushClient#setTrackingHost}. */
    public void setTrackingHost(String host) {
        client.setTrackingHost(host);
    }

    /** See {@link PushClient#registerDevice}. The parameters may be null. */
    public void registerDevice(String token, String userKey, Map<String, ?> parameters, Context context)
            throws NeolaneException, IOException {
        PushMTA.keepState(context);
        run(() -> client.registerDevice(token, userKey, parameters, AndroidDevice.describe(context)));
    }

    /** Reports that a notification arrived, by its {@code _mId} and {@code _dId}. */
    public void notifyReceive(String messageId, String deliveryId) throws NeolaneException, IOException {
        run(() -> client.notifyReceive(messageId, deliveryId));
    }

    /** The same with a message id that the app has made a number of. */
    public void notifyReceive(Integer messageId, String deliveryId) throws NeolaneException, IOException {
        notifyReceive(text(messageId), deliveryId);
    }

    /** The same with a delivery id that the app has made a number of: its digits are sent back as they came. */
    public void notifyReceive(String messageId, Integer deliveryId) throws NeolaneException, IOException {
        notifyReceive(messageId, text(deliveryId));
    }

    /** The same with numbers. */
    public void notifyReceive(Integer messageId, Integer deliveryId) throws NeolaneException, IOException {
        notifyReceive(text(messageId), text(deliveryId));
    }

    /** Reports that the user opened a notification, by its {@code _mId} and {@code _dId}. */
    public void notifyOpening(String messageId, String deliveryId) throws NeolaneException, IOException {
        run(() -> client.notifyOpening(messageId, deliveryId));
    }

    /** The same with a message id that the app has made a number of. */
    public void notifyOpening(Integer messageId, String deliveryId) throws NeolaneException, IOException {
        notifyOpening(text(messageId), deliveryId);
    }

    /** The same with a delivery id that the app has made a number of: its digits are sent back as they came. */
    public void notifyOpening(String messageId, Integer deliveryId) throws NeolaneException, IOException {
        notifyOpening(messageId, text(deliveryId));
    }

    /** The same with numbers. */
    public void notifyOpening(Integer messageId, Integer deliveryId) throws NeolaneException, IOException {
        notifyOpening(text(messageId), text(deliveryId));
    }

    /** The digits of an id; null for no id, which {@link PushClient} refuses. */
    static String text(Integer id) {
        return id == null ? null : id.toString();
    }

    private interface Call {
        void run() throws PushException, IOException;
    }

    private static void run(Call call) throws NeolaneException, IOException {
        try {
            call.run();
        } catch (PushException error) {
            throw new NeolaneException(error);
        }
    }
}
