package com.android.YourApplication;

/** Some samples call the app's activity by this name. */
class NeoTripActivity extends YourApplicationActivity {
}
