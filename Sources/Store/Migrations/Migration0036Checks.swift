extension Migration {
    /// What can never be sent is refused where it is written.
    static let inputChecks = Migration(
        version: 36,
        name: "input checks",
        oldestProgram: 8,
        script: readyMadeTemplates
    )

    private static let readyMadeTemplates = #"""
        -- A channel shows a notification, so the template could not be used for a data message. Without one FCM takes the app's own
        -- default channel.
        UPDATE pushmta_engine.delivery_template SET content = '{"android": {"priority": "high"}}', changed_at = now(),
            label = 'Notification or data message to the subscribers of an Android application'
        WHERE name = 'Deliver on Android' AND ready_made AND content = '{"android": {"channel_id": "AEPSDKPushChannel", "priority": "high"}}';

        """#
}
