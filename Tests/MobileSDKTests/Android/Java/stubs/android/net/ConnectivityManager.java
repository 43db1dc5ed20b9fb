package android.net;

import stub.Device;

/** Knows about networks. */
public class ConnectivityManager {
    /** Hears of networks. */
    public static class NetworkCallback {
        public void onAvailable(Network network) {
        }
    }

    public void registerDefaultNetworkCallback(NetworkCallback callback) {
        Device.SHARED.networkCallbacks.add(callback);
    }
}
