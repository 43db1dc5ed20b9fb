package io.pushmta.sdk.android;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.database.Cursor;
import android.net.Uri;

/**
 * Gives the SDK its storage before the app's own code runs. The system creates providers first, even if a message wakes
 * the app. So receipts are kept even in apps that never pass a context. It provides no data.
 */
public final class StateProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        PushMTA.keepState(getContext());
        return true;
    }

    @Override
    public Cursor query(Uri uri, String[] columns, String where, String[] arguments, String order) {
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        return null;
    }

    @Override
    public int delete(Uri uri, String where, String[] arguments) {
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String where, String[] arguments) {
        return 0;
    }
}
