package android.content;

import stub.Device;

/** A context that is the device here. */
public class ContextWrapper extends Context {
    @Override
    public Context getApplicationContext() {
        return Device.SHARED;
    }

    @Override
    public ContentResolver getContentResolver() {
        return Device.SHARED.getContentResolver();
    }

    @Override
    public SharedPreferences getSharedPreferences(String name, int mode) {
        return Device.SHARED.getSharedPreferences(name, mode);
    }

    @Override
    public Object getSystemService(String name) {
        return Device.SHARED.getSystemService(name);
    }

    @Override
    public void sendBroadcast(Intent intent) {
        Device.SHARED.sendBroadcast(intent);
    }
}
