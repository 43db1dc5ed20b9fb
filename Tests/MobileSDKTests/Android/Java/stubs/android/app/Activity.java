package android.app;

import android.content.ContextWrapper;
import android.content.Intent;
import android.os.Bundle;
import android.view.View;
import stub.Device;

/** A screen. */
public class Activity extends ContextWrapper {
    private Intent intent = new Intent();

    protected void onCreate(Bundle state) {
    }

    public Intent getIntent() {
        return intent;
    }

    public void setIntent(Intent newIntent) {
        intent = newIntent;
    }

    public void setContentView(int layout) {
    }

    @SuppressWarnings("unchecked")
    public <T extends View> T findViewById(int id) {
        return (T) Device.SHARED.views.get(id);
    }
}
