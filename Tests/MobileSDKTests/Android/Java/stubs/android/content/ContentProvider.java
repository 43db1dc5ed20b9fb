package android.content;

import android.database.Cursor;
import android.net.Uri;
import stub.Device;

/** What the system makes before the app, and gives data through. */
public abstract class ContentProvider {
    public abstract boolean onCreate();

    public abstract Cursor query(Uri uri, String[] columns, String where, String[] arguments, String order);

    public abstract String getType(Uri uri);

    public abstract Uri insert(Uri uri, ContentValues values);

    public abstract int delete(Uri uri, String where, String[] arguments);

    public abstract int update(Uri uri, ContentValues values, String where, String[] arguments);

    public final Context getContext() {
        return Device.SHARED;
    }
}
