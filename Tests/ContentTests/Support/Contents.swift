@testable import Content

/// Contents in which every key of a platform has a value.
enum Contents {
    /// Every key of `ios`, except those that exclude one another.
    static let ios = #"""
        {"ios": {
          "title": "Hello {{firstName|there}}", "title_loc_key": "TLK", "title_loc_args": ["{{firstName|you}}", "2"],
          "subtitle": "Sub", "subtitle_loc_key": "SLK", "subtitle_loc_args": ["s1"],
          "body": "{{#vip}}For you, {{firstName}}: {{/vip}}{{^vip}}For all: {{/vip}}50 % off \"now\"",
          "loc_key": "LK", "loc_args": ["a", "{{city|?}}"], "action_loc_key": "ALK", "launch_image": "launch.png",
          "badge": "{{unread|0}}", "sound": {"name": "chime.caf", "critical": true, "volume": 35},
          "category": "image", "thread_id": "thread-{{city}}", "target_content_id": "window", "mutable_content": true,
          "content_available": true, "interruption_level": "time-sensitive", "relevance_score": 0.75,
          "filter_criteria": "work", "media_url": "https://example.com/a.png?c={{city}}", "click_action": "app://offer",
          "variables": {"url": "app://x", "n": 1.50, "list": [{"city": "{{city}}"}, null]},
          "priority": 5, "expiration_seconds": 3600, "collapse_id": "offer-{{city|none}}", "push_type": "alert",
          "aps": {"relevance-score": 0.5, "stale-date": "{{staleAt}}", "alert": {"launch-image": null, "extra": "{{city}}"}}
        }}
        """#

    /// Every key of `android`.
    static let android = #"""
        {"android": {
          "kind": "notification", "title": "Hello {{firstName|there}}", "title_loc_key": "TLK",
          "title_loc_args": ["{{firstName|you}}", "2"], "body": "{{#vip}}For you{{/vip}}{{^vip}}For all{{/vip}}",
          "body_loc_key": "BLK", "body_loc_args": ["b1"], "channel_id": "CH", "icon": "I", "sound": "S", "tag": "T{{city}}",
          "color": "#a0B1c2", "click_action": "OPEN", "image": "https://example.com/i.png", "ticker": "TI",
          "sticky": true, "visibility": "public", "notification_priority": "high", "notification_count": "{{unread|0}}",
          "event_time": "2030-01-31T12:00:00.5+01:00", "local_only": false, "default_sound": true,
          "default_vibrate_timings": false, "default_light_settings": true, "vibrate_timings": [0, 0.5, 1.25],
          "light_settings": {"color": "#ff8000", "on_seconds": 0.5, "off_seconds": 1},
          "bypass_proxy_notification": true, "proxy": "if_priority_lowered",
          "variables": {"title": "V", "sub": "{{city}}", "n": 1.50, "o": {"k": ["{{city}}", true]}},
          "ttl_seconds": "{{ttl|600}}", "priority": "high", "collapse_key": "CK{{city}}",
          "restricted_package_name": "com.example.app", "direct_boot_ok": true, "bandwidth_constrained_ok": true,
          "restricted_satellite_ok": false, "analytics_label": "AL", "validate_only": true,
          "message": {"fcm_options": {"analytics_label": "ML"}, "apns": {"headers": {"apns-priority": "5"}}}
        }}
        """#

    /// Every key of `android` that legacy FCM has.
    static let legacy = #"""
        {"android": {
          "kind": "notification", "title": "Hello {{firstName|there}}", "title_loc_key": "TLK",
          "title_loc_args": ["{{firstName|you}}", "2"], "body": "{{city}}", "body_loc_key": "BLK", "body_loc_args": ["b1"],
          "channel_id": "CH", "icon": "I", "sound": "S", "tag": "T{{city}}", "color": "#a0B1c2", "click_action": "OPEN",
          "variables": {"imageURL": "https://example.com", "o": {"k": ["{{city}}", true]}},
          "ttl_seconds": 60, "priority": "normal", "collapse_key": "CK{{city}}",
          "restricted_package_name": "com.example.app", "validate_only": true
        }}
        """#

    /// Every key of `ios` that the binary protocol has.
    static let binary = #"""
        {"ios": {
          "title": "T {{city}}", "title_loc_key": "TLK", "title_loc_args": ["1"], "body": "B", "loc_key": "LK",
          "loc_args": ["a"], "action_loc_key": "ALK", "launch_image": "L", "clear_badge": true, "sound": "default",
          "category": "C", "thread_id": "TH", "target_content_id": "TC", "content_available": true,
          "interruption_level": "active", "relevance_score": 1, "filter_criteria": "F", "click_action": "app://x",
          "variables": {"k": "{{city}}"}, "priority": 10, "expiration_seconds": 0
        }}
        """#

    /// The values of a subscriber for all fields of these contents.
    static let values = [
        "firstName": "Zoë \"Z\"", "city": "Köln\\😀", "vip": "true", "unread": "7", "staleAt": "1900000000",
        "ttl": "86400",
    ]
}
