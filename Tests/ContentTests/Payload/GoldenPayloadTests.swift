import Testing

@testable import Content
@testable import PushCore

/// The exact payloads of contents in which every key has a value.
@Suite struct GoldenPayloadTests {
    @Test func apns() throws {
        let known = try Rendering(Contents.ios, .apns, values: Contents.values)
        #expect(
            known.text == #"""
                {"aps":{"alert":{"title":"Hello Zoë \"Z\"","title-loc-key":"TLK","title-loc-args":["Zoë \"Z\"","2"],\#
                "subtitle":"Sub","subtitle-loc-key":"SLK","subtitle-loc-args":["s1"],"body":"For you,\#
                 Zoë \"Z\": 50 % off \"now\"","loc-key":"LK","loc-args":["a","Köln\\😀"],"action-loc-key":"ALK",\#
                "extra":"Köln\\😀"},"sound":{"critical":1,"name":"chime.caf","volume":0.35},"category":"image",\#
                "thread-id":"thread-Köln\\😀","target-content-id":"window","mutable-content":1,"content-available":1,\#
                "interruption-level":"time-sensitive","relevance-score":0.5,"filter-criteria":"work","badge":7,\#
                "stale-date":1900000000},"mediaUrl":"https://example.com/a.png?c=Köln\\😀","adb_uri":"app://offer",\#
                "url":"app://x","n":1.50,"list":[{"city":"Köln\\😀"},null],"_mId":"\#(Rendering.uuidText)","_dId":"123"}
                """#
        )
        let unknown = try Rendering(Contents.ios, .apns)
        #expect(
            unknown.text == #"""
                {"aps":{"alert":{"title":"Hello there","title-loc-key":"TLK","title-loc-args":["you","2"],"subtitle":"Sub",\#
                "subtitle-loc-key":"SLK","subtitle-loc-args":["s1"],"body":"For all: 50 % off \"now\"","loc-key":"LK",\#
                "loc-args":["a","?"],"action-loc-key":"ALK","extra":""},"sound":{"critical":1,"name":"chime.caf",\#
                "volume":0.35},"category":"image","thread-id":"thread-","target-content-id":"window","mutable-content":1,\#
                "content-available":1,"interruption-level":"time-sensitive","relevance-score":0.5,"filter-criteria":"work",\#
                "badge":0},"mediaUrl":"https://example.com/a.png?c=","adb_uri":"app://offer","url":"app://x","n":1.50,\#
                "list":[{"city":""},null],"_mId":"\#(Rendering.uuidText)","_dId":"123"}
                """#
        )
        #expect(known.size == known.body.count)
        #expect(
            known.template.attributes == MessageAttributes(pushType: .alert, priority: 5, expirationSeconds: 3600)
        )
        #expect(known.template.hasPersonalisedCollapseID)
    }

    @Test func apnsBinary() throws {
        let rendering = try Rendering(Contents.binary, .apnsBinary, values: Contents.values)
        #expect(
            rendering.text == #"""
                {"aps":{"alert":{"title":"T Köln\\😀","title-loc-key":"TLK","title-loc-args":["1"],"body":"B","loc-key":"LK",\#
                "loc-args":["a"],"action-loc-key":"ALK","launch-image":"L"},"badge":0,"sound":"default","category":"C",\#
                "thread-id":"TH","target-content-id":"TC","content-available":1,"interruption-level":"active",\#
                "relevance-score":1,"filter-criteria":"F"},"adb_uri":"app://x","k":"Köln\\😀",\#
                "_mId":"\#(Rendering.uuidText)","_dId":"123"}
                """#
        )
        #expect(rendering.template.attributes.priority == 10)
        #expect(rendering.template.payloadLimit == 2_048)
    }

    @Test func fcmV1() throws {
        let known = try Rendering(Contents.android, .fcmV1, values: Contents.values)
        #expect(
            known.text == #"""
                {"validate_only":true,"message":{"token":"token:1","data":{"_mId":"\#(Rendering.uuidText)","_dId":"123",\#
                "title":"V","sub":"Köln\\😀","n":"1.50","o":"{\"k\":[\"Köln\\\\😀\",true]}"},"android":{"priority":"HIGH",\#
                "collapse_key":"CKKöln\\😀","restricted_package_name":"com.example.app","direct_boot_ok":true,\#
                "bandwidth_constrained_ok":true,"restricted_satellite_ok":false,"notification":{"title":"Hello Zoë \"Z\"",\#
                "title_loc_key":"TLK","title_loc_args":["Zoë \"Z\"","2"],"body":"For you","body_loc_key":"BLK",\#
                "body_loc_args":["b1"],"channel_id":"CH","icon":"I","sound":"S","tag":"TKöln\\😀","color":"#a0B1c2",\#
                "click_action":"OPEN","image":"https://example.com/i.png","ticker":"TI","sticky":true,"visibility":"PUBLIC",\#
                "notification_priority":"PRIORITY_HIGH","event_time":"2030-01-31T12:00:00.5+01:00","local_only":false,\#
                "default_sound":true,"default_vibrate_timings":false,"default_light_settings":true,"vibrate_timings":["0s",\#
                "0.5s","1.25s"],"light_settings":{"color":{"red":1.0,"green":0.5019607843137255,"blue":0.0,"alpha":1.0},\#
                "light_on_duration":"0.5s","light_off_duration":"1s"},"bypass_proxy_notification":true,\#
                "proxy":"IF_PRIORITY_LOWERED","notification_count":7},"fcm_options":{"analytics_label":"AL"},\#
                "ttl":"86400s"},"fcm_options":{"analytics_label":"ML"},"apns":{"headers":{"apns-priority":"5"}}}}
                """#
        )
        let unknown = try Rendering(Contents.android, .fcmV1)
        #expect(
            unknown.text == #"""
                {"validate_only":true,"message":{"token":"token:1","data":{"_mId":"\#(Rendering.uuidText)","_dId":"123",\#
                "title":"V","sub":"","n":"1.50","o":"{\"k\":[\"\",true]}"},"android":{"priority":"HIGH","collapse_key":"CK",\#
                "restricted_package_name":"com.example.app","direct_boot_ok":true,"bandwidth_constrained_ok":true,\#
                "restricted_satellite_ok":false,"notification":{"title":"Hello there","title_loc_key":"TLK",\#
                "title_loc_args":["you","2"],"body":"For all","body_loc_key":"BLK","body_loc_args":["b1"],"channel_id":"CH",\#
                "icon":"I","sound":"S","tag":"T","color":"#a0B1c2","click_action":"OPEN",\#
                "image":"https://example.com/i.png","ticker":"TI","sticky":true,"visibility":"PUBLIC",\#
                "notification_priority":"PRIORITY_HIGH","event_time":"2030-01-31T12:00:00.5+01:00","local_only":false,\#
                "default_sound":true,"default_vibrate_timings":false,"default_light_settings":true,"vibrate_timings":["0s",\#
                "0.5s","1.25s"],"light_settings":{"color":{"red":1.0,"green":0.5019607843137255,"blue":0.0,"alpha":1.0},\#
                "light_on_duration":"0.5s","light_off_duration":"1s"},"bypass_proxy_notification":true,\#
                "proxy":"IF_PRIORITY_LOWERED","notification_count":0},"fcm_options":{"analytics_label":"AL"},\#
                "ttl":"600s"},"fcm_options":{"analytics_label":"ML"},"apns":{"headers":{"apns-priority":"5"}}}}
                """#
        )
    }

    @Test func fcmLegacy() throws {
        let known = try Rendering(Contents.legacy, .fcmLegacy, values: Contents.values)
        #expect(
            known.text == #"""
                {"collapse_key":"CKKöln\\😀","priority":"normal","time_to_live":60,\#
                "restricted_package_name":"com.example.app","dry_run":true,"data":{"_mId":"\#(Rendering.uuidText)",\#
                "_dId":"123","imageURL":"https://example.com","o":"{\"k\":[\"Köln\\\\😀\",true]}"},\#
                "notification":{"title":"Hello Zoë \"Z\"","title_loc_key":"TLK","title_loc_args":["Zoë \"Z\"","2"],\#
                "body":"Köln\\😀","body_loc_key":"BLK","body_loc_args":["b1"],"android_channel_id":"CH","icon":"I",\#
                "sound":"S","tag":"TKöln\\😀","color":"#a0B1c2","click_action":"OPEN"}}
                """#
        )
    }
}
