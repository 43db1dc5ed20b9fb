// MobileSDKAndroid: what Android apps link: registers a device, and reports what becomes of notifications.
//
// WHAT IT DOES
//   The same as MobileSDK does for iOS, in plain Java 8 without a dependency: registrations to the marketing host, tracking
//   paths to the tracking host, both kept and tried again. The folder android has the layer for apps: device description,
//   preferences, network watch, messaging service.
//
// HOW IT IS USED
//   An app calls PushMTA.start(...) in Application.onCreate, PushMTA.registerDevice(...) and notifyReceive or notifyOpening,
//   and extends PushMTAMessagingService. Below it PushClient has the calls that wait for the server, AsyncRunner makes them
//   in the background. Registrar and Tracker do the work; what is to be sent they ask RegistrationState and TrackingQueue,
//   which have no input and no output. An app of Adobe's Campaign SDK keeps its calls: com.neolane.android.v1 passes them on.
//   gradle or Deploy/package-android builds it; Swift Package Manager does not know it.
//
// THREADS AND TASKS
//   Two daemon threads a client (Lane), one for registrations and one for hits: they do things in order and have the timers.
//   A call of PushClient blocks its caller until its lane has done it; AsyncRunner has two more threads for the process, and
//   tells listeners on these or through an executor, the main thread's in PushMTA.runner().
//
// STATE AND FILES
//   Two texts, `registration` and `tracking`, in a Storage: the app's private preferences (PreferencesStorage) or files
//   (FileStorage). Written before a request leaves, so that an end of the process loses neither. Without a storage they live
//   as long as the process.
//
// FAILURES
//   PushException says that a setting is missing or the server refused; IOException that nobody answered. What nobody
//   answered, or a server that is busy or broken refused, is kept and tried again after 5 s, doubling to an hour, with
//   jitter; Retry-After is obeyed up to a day. A hit that a server fails at 10 times is given up, and the oldest of more than
//   100. What cannot be read counts as nothing. Redirects are not followed.
//
// SETTINGS
//   None: the app calls setMarketingHost, setTrackingHost and setIntegrationKey, or PushMTA.start.
//
// SEE ALSO
//   src/main/java/io/pushmta/sdk/Registrar.java, src/main/java/io/pushmta/sdk/Tracker.java,
//   src/main/java/io/pushmta/sdk/Lane.java, android/src/main/java/io/pushmta/sdk/android/PushMTA.java,
//   android/src/main/java/com/neolane/android/v1/Neolane.java, README.md, Config/sdk.md

package io.pushmta.sdk;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Registers a device with PushMTA, and tells it what becomes of notifications.
 *
 * <p>The calls wait for the server. {@link AsyncRunner} makes them in the background, which is what an app's main thread
 * needs. What the server could not be told is kept, and tried again with back-off.
 */
public final class PushClient {
    private static final PushClient SHARED = new PushClient(new HttpTransport());

    private final Settings settings = new Settings();
    private final Registrar registrar;
    private final Tracker tracker;

    /** Makes a client of its own, for an app that brings its own transport; most use {@link #getInstance}. */
    public PushClient(Transport transport) {
        this(transport, BackOff.FIRST_MILLIS, System.nanoTime());
    }

    PushClient(Transport transport, long firstRetryMillis, long seed) {
        registrar = new Registrar(settings, transport, new BackOff(firstRetryMillis, seed));
        tracker = new Tracker(settings, transport, new BackOff(firstRetryMillis, ~seed));
    }

    /** The client of the app. */
    public static PushClient getInstance() {
        return SHARED;
    }

    /**
     * Sets what keeps the state when the process ends, and goes on with what is in it; call it once, before all else. Without
     * it, the state lives as long as the process.
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

    /** Sets the server that takes registrations: {@code https://host:port/}, or {@code host[:port][/path]} for https. */
    public void setMarketingHost(String host) {
        if (settings.setMarketingHost(host)) {
            registrar.retryNow();
        }
    }

    /** Sets the server that takes tracking hits, in the same form. */
    public void setTrackingHost(String host) {
        if (settings.setTrackingHost(host)) {
            tracker.retryNow();
        }
    }

    /**
     * Registers the device. Call it at each start and for each new token: a request is sent only if token, user key,
     * parameters, server or integration key changed.
     *
     * @param token      the token of Firebase Cloud Messaging
     * @param userKey    what matches the device to a recipient, such as a customer number; null for none
     * @param parameters the subscription parameters that the service declares. With null, or with a proof of the
     *                   user key alone, the same user keeps those of the last call; with an empty map there are none
     * @param device     {@code AndroidDevice.describe(context)}
     * @throws PushException when a setting is missing, or the server refused
     * @throws IOException   when the server cannot be reached; the registration is kept and tried again
     */
    public void registerDevice(String token, String userKey, Map<String, ?> parameters, DeviceInfo device)
            throws PushException, IOException {
        register(token, userKey, document(parameters), device);
    }

    /**
     * Parameters that carry a proof of the user key, for a service that asks for one ({@code user_key_trust} signed). The
     * server takes it out again.
     *
     * @param parameters the subscription parameters, or null
     * @param proof      the token that your backend has signed for the user, or null for none
     * @return a new map, to be passed to {@code registerDevice}
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

    /** The parameters as the server takes them; null when the app says nothing of them. */
    static String document(Map<String, ?> parameters) {
        return parameters == null ? null : ParametersXml.document(parameters);
    }

    void register(String token, String userKey, String document, DeviceInfo device) throws PushException, IOException {
        registrar.register(new Registration(token, userKey, document, device));
    }

    /** Registers the device again, with a new token and all else as before. Call it from {@code onNewToken}. */
    public void refreshToken(String token) throws PushException, IOException {
        registrar.refreshToken(token);
    }

    /**
     * Says that the person who uses the app wants no messages (true), or wants them again (false). It is kept on the device and
     * goes to the server with the registration of that user key, at once if there is one. A person who wants none stays so with
     * each token that the app has later.
     *
     * @throws PushException when a setting is missing, or the server refused
     * @throws IOException   when the server cannot be reached; it is kept and tried again
     */
    public void setOptOut(boolean optedOut) throws PushException, IOException {
        registrar.setOptOut(optedOut);
    }

    /** Tells the server that a notification arrived: its {@code _mId} and its {@code _dId}, which is hexadecimal. */
    public void notifyReceive(String messageId, String deliveryId) throws PushException, IOException {
        tracker.track(messageId, deliveryId, TrackingPath.RECEIVE);
    }

    /** The same, as the old SDK took the id. */
    public void notifyReceive(Integer messageId, String deliveryId) throws PushException, IOException {
        notifyReceive(messageId == null ? null : messageId.toString(), deliveryId);
    }

    /** Tells the server that somebody opened a notification: its {@code _mId} and its {@code _dId}, which is hexadecimal. */
    public void notifyOpening(String messageId, String deliveryId) throws PushException, IOException {
        tracker.track(messageId, deliveryId, TrackingPath.CLICK);
    }

    /** The same, as the old SDK took the id. */
    public void notifyOpening(Integer messageId, String deliveryId) throws PushException, IOException {
        notifyOpening(messageId == null ? null : messageId.toString(), deliveryId);
    }

    /**
     * Tries at once to send what is queued, but for hits whose server asked for more time. Call it when there is a network again.
     */
    public void retryNow() {
        registrar.retryNow();
        tracker.retryNow();
    }

    /**
     * Forgets what was registered, so that the next {@link #registerDevice} sends everything again. Call it when somebody signs
     * out. What was queued is dropped; the server is told nothing, and what persons said with {@link #setOptOut} stays.
     */
    public void forgetRegistration() {
        registrar.forget();
    }
}
