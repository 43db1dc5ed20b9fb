// MobileSDKAndroid: the library for Android apps. It registers a device and reports what happens to notifications.
//
// WHAT IT DOES
//   The same as MobileSDK for iOS, in plain Java 8 without dependencies. It sends registrations to the marketing host
//   and tracking requests to the tracking host, keeps both and retries them. The folder android has the layer for apps:
//   device description, preferences, network watch, messaging service.
//
// HOW IT IS USED
//   An app calls PushMTA.start(...) in Application.onCreate, PushMTA.registerDevice(...), and notifyReceive or
//   notifyOpening. It also extends PushMTAMessagingService. The calls of PushClient below wait for the server;
//   AsyncRunner makes them in the background. Registrar and Tracker do the work. RegistrationState and TrackingQueue,
//   which do no input or output, decide what to send. An app for Adobe's Campaign SDK keeps its calls:
//   com.neolane.android.v1 forwards them. Build it with gradle or Deploy/package-android; Swift Package Manager does
//   not include it.
//
// THREADS AND TASKS
//   Each client has two daemon threads (Lane), one for registrations and one for hits. They run tasks in order and have
//   the timers. A call of PushClient blocks its caller until its lane has handled it. AsyncRunner has two more threads
//   for each process. It calls listeners on these or through an executor, which in PushMTA.runner() is the main
//   thread's.
//
// STATE AND FILES
//   Two texts, `registration` and `tracking`, in a Storage: the app's private preferences (PreferencesStorage) or files
//   (FileStorage). They are written before a request is sent, so that nothing is lost if the process ends. Without a
//   storage the state lasts as long as the process.
//
// FAILURES
//   A PushException means that a setting is missing or the server refused; an IOException means that there was no
//   answer. A request without an answer, or refused by a busy or broken server, is kept and retried after 5 s, doubling
//   to an hour, with jitter. Retry-After is honoured up to a day. A hit is given up after 10 failed answers; beyond 100
//   hits the oldest is dropped. Unreadable state counts as absent. Redirects are not followed.
//
// SETTINGS
//   None. The app calls setMarketingHost, setTrackingHost and setIntegrationKey, or PushMTA.start.
//
// SEE ALSO
//   src/main/java/io/pushmta/sdk/Registrar.java, src/main/java/io/pushmta/sdk/Tracker.java,
//   src/main/java/io/pushmta/sdk/Lane.java, android/src/main/java/io/pushmta/sdk/android/PushMTA.java,
//   android/src/main/java/com/neolane/android/v1/Neolane.java, README.md, Config/sdk.md

package io.pushmta.sdk;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TimeZone;

/**
 * Registers a device with PushMTA and reports what happens to notifications.
 *
 * <p>The calls wait for the server. On an app's main thread use {@link AsyncRunner}, which makes them in the
 * background. Requests that could not be sent are kept and retried with back-off.
 */
public final class PushClient {
    private static final PushClient SHARED = new PushClient(new HttpTransport());

    private final Settings settings = new Settings();
    private final Registrar registrar;
    private final Tracker tracker;
    private volatile boolean sendsTimeZone;

    /** Makes a separate client, for an app that supplies its own transport; most apps use {@link #getInstance}. */
    public PushClient(Transport transport) {
        this(transport, BackOff.FIRST_MILLIS, System.nanoTime());
    }

    PushClient(Transport transport, long firstRetryMillis, long seed) {
        registrar = new Registrar(settings, transport, new BackOff(firstRetryMillis, seed));
        tracker = new Tracker(settings, transport, new BackOff(firstRetryMillis, ~seed));
    }

    /** The app's client. */
    public static PushClient getInstance() {
        return SHARED;
    }

    /**
     * Sets the storage of the state and continues with the state in it. Call it once, before all else. Without a
     * storage, the state lasts as long as the process.
     */
    public void setStorage(Storage storage) {
        registrar.restore(storage);
        tracker.restore(storage);
    }

    /** Sets the key that names the application to the server. */
    public void setIntegrationKey(String key) {
        if (settings.setIntegrationKey(key)) {
            registrar.retryNow();
        }
    }

    /** Sets the server for registrations: {@code https://host:port/}, or {@code host[:port][/path]} for https. */
    public void setMarketingHost(String host) {
        if (settings.setMarketingHost(host)) {
            registrar.retryNow();
        }
    }

    /** Sets the server for tracking hits, in the same form. */
    public void setTrackingHost(String host) {
        if (settings.setTrackingHost(host)) {
            tracker.retryNow();
        }
    }

    /**
     * Sends the device's time zone with later registrations, so that messages can arrive at the user's own time of day.
     * By default it is not sent: a time zone tells where a person is, so it is personal data. Say so in the app's
     * privacy notice. A device that moves to another zone tells the server with its next {@link #registerDevice}.
     */
    public void setSendsTimeZone(boolean sends) {
        sendsTimeZone = sends;
    }

    /**
     * Registers the device. Call it at each start and for each new token: a request is sent only if token, user key,
     * parameters, server or integration key changed.
     *
     * @param token      the token of Firebase Cloud Messaging
     * @param userKey    the key that links the device to a recipient, such as a customer number; null for none
     * @param parameters the subscription parameters that the service declares. With null, or with only a proof of the
     *                   user key, the same user keeps those of the last call; an empty map removes them
     * @param device     {@code AndroidDevice.describe(context)}
     * @throws PushException if a setting is missing or the server refused
     * @throws IOException   if the server cannot be reached; the registration is kept and retried
     */
    public void registerDevice(String token, String userKey, Map<String, ?> parameters, DeviceInfo device)
            throws PushException, IOException {
        register(token, userKey, document(parameters), device);
    }

    /**
     * Parameters with a proof of the user key, for a service that requires one ({@code user_key_trust} signed). The
     * server removes it.
     *
     * @param parameters the subscription parameters, or null
     * @param proof      the token that your backend has signed for the user; null for none
     * @return a new map to pass to {@code registerDevice}
     */
    public static Map<String, Object> withUserKeyProof(Map<String, ?> parameters, String proof) {
        Map<String, Object> all = new LinkedHashMap<>();
        if (parameters != null) {
            all.putAll(parameters);
        }
        if (proof != null) {
            all.put(ParametersXml.PROOF, proof);
        }
        return all;
    }

    /** The parameters in the server's form; null if the app passed none. */
    static String document(Map<String, ?> parameters) {
        return parameters == null ? null : ParametersXml.document(parameters);
    }

    void register(String token, String userKey, String document, DeviceInfo device) throws PushException, IOException {
        boolean addsZone = sendsTimeZone && device.timeZone == null;
        DeviceInfo described = addsZone ? device.withTimeZone(TimeZone.getDefault().getID()) : device;
        registrar.register(new Registration(token, userKey, document, described));
    }

    /** Registers the device again with a new token; all else is unchanged. Call it from {@code onNewToken}. */
    public void refreshToken(String token) throws PushException, IOException {
        registrar.refreshToken(token);
    }

    /**
     * Records that the user wants no messages (true), or wants them again (false). The choice is kept on the device and
     * sent with the registration of that user key, at once if there is one. An opt-out also applies to tokens that the
     * app gets later.
     *
     * @throws PushException if a setting is missing or the server refused
     * @throws IOException   if the server cannot be reached; the choice is kept and sent again
     */
    public void setOptOut(boolean optedOut) throws PushException, IOException {
        registrar.setOptOut(optedOut);
    }

    /**
     * Records that the user wants no messages of a category (true), or wants them again (false). It is kept and sent
     * like {@link #setOptOut(boolean)}, and independent of it: a user who opted out of everything gets no category. The
     * server's operator says which categories there are, such as {@code marketing} and {@code news}.
     *
     * @throws PushException if a setting is missing or the server refused
     * @throws IOException   if the server cannot be reached; the choice is kept and sent again
     */
    public void setOptOut(String category, boolean optedOut) throws PushException, IOException {
        registrar.setOptOut(category, optedOut);
    }

    /** Reports that a notification arrived, by its {@code _mId} and its hexadecimal {@code _dId}. */
    public void notifyReceive(String messageId, String deliveryId) throws PushException, IOException {
        tracker.track(messageId, deliveryId, TrackingPath.RECEIVE);
    }

    /** The same, as the old SDK took the id. */
    public void notifyReceive(Integer messageId, String deliveryId) throws PushException, IOException {
        notifyReceive(messageId == null ? null : messageId.toString(), deliveryId);
    }

    /** Reports that the user opened a notification, by its {@code _mId} and its hexadecimal {@code _dId}. */
    public void notifyOpening(String messageId, String deliveryId) throws PushException, IOException {
        tracker.track(messageId, deliveryId, TrackingPath.CLICK);
    }

    /** The same, as the old SDK took the id. */
    public void notifyOpening(Integer messageId, String deliveryId) throws PushException, IOException {
        notifyOpening(messageId == null ? null : messageId.toString(), deliveryId);
    }

    /**
     * Records that the user did what a notification was sent for, such as a purchase. It counts for the last notification
     * that was reported as opened, by this process or an earlier one. The server counts the first conversion of a name
     * for each notification.
     *
     * @param name  what the user did: 1 to 100 bytes
     * @param value a number such as the amount of an order; null for none
     * @throws PushException if no notification was opened, a setting is missing or the server refused
     * @throws IOException   if the server cannot be reached; the conversion is kept and sent again
     */
    public void recordConversion(String name, Double value) throws PushException, IOException {
        tracker.convert(name, value);
    }

    /**
     * Reports that a notification was removed because its delivery was recalled, by its {@code _mId} and its
     * hexadecimal {@code _dId}.
     */
    public void notifyRemoval(String messageId, String deliveryId) throws PushException, IOException {
        tracker.track(messageId, deliveryId, TrackingPath.REMOVE);
    }

    /**
     * Sends queued requests at once, except hits for which the server asked for more time. Call it when the network
     * returns.
     */
    public void retryNow() {
        registrar.retryNow();
        tracker.retryNow();
    }

    /**
     * Forgets the registration, so that the next {@link #registerDevice} sends everything again. Call it when a user
     * signs out. A queued registration is dropped and the server is not informed. Choices made with {@link #setOptOut}
     * are kept.
     */
    public void forgetRegistration() {
        registrar.forget();
    }
}
