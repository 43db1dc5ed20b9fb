import Foundation
import Testing

@testable import Content
@testable import PushCore

@Suite struct RichTemplateTests {
    private static let items =
        #"[{"image": "i1", "text": "t{{n}}", "uri": "u1"}, {"image": "i2"}, {"image": "i3", "uri": "u3"}]"#
    private static let links = #"[{"uri": "u1", "type": "WEBURL"}, {"type": "OPENAPP"}, {"type": "DISMISS"}]"#
    private static let products = (1...3).map {
        #"{"title": "t\#($0)", "body": "b", "image": "i", "price": "1 €", "uri": "u"}"#
    }.joined(separator: ",")

    /// A template of each kind, and its keys in the payload.
    static let iOS: [(String, String)] = [
        (
            ##"{"type": "basic", "expanded_title": "ET", "expanded_body": "EB{{n}}", "title_color": "#00FF00", "body_color": "#00ff01", "background_color": "#000002"}"##,
            #""adb_template_type":"basic","adb_version":"1.0","adb_title_ex":"ET","adb_clr_title":"00FF00","adb_clr_body":"00ff01","adb_clr_bg":"000002","adb_body_ex":"EB7""#
        ),
        (
            #"{"type": "carousel", "version": "2", "mode": "manual", "layout": "filmstrip", "items": \#(items)}"#,
            #""adb_template_type":"car","adb_version":"2","adb_car_mode":"manual","adb_car_layout":"filmstrip","adb_items":[{"img":"i1","txt":"t7","uri":"u1"},{"img":"i2"},{"img":"i3","uri":"u3"}]"#
        ),
        (
            ##"{"type": "timer", "alternate_title": "AT", "alternate_body": "AB", "alternate_image": "AI", "timer_seconds": 90, "timer_end": "{{end}}", "timer_color": "#123456"}"##,
            #""adb_template_type":"timer","adb_version":"1.0","adb_title_alt":"AT","adb_media_alt":"AI","adb_body_alt":"AB","adb_tmr_dur":"90","adb_tmr_end":"1900000000","adb_clr_tmr":"123456""#
        ),
    ]

    static let android: [(String, String)] = [
        (
            ##"{"type": "basic", "expanded_body": "EB{{n}}", "title_color": "#00FF00", "small_icon": "si", "large_icon": "li", "link_type": "OPENAPP", "buttons": [{"label": "\"L{{n}}\"", "uri": "u", "type": "WEBURL"}, {"label": "x", "type": "DISMISS"}], "remind_text": "later", "remind_seconds": 60}"##,
            #""adb_template_type":"basic","adb_version":"1","adb_body_ex":"EB7","adb_clr_title":"00FF00","adb_small_icon":"si","adb_large_icon":"li","adb_a_type":"OPENAPP","adb_act":"[{\"label\":\"\\\"L7\\\"\",\"uri\":\"u\",\"type\":\"WEBURL\"},{\"label\":\"x\",\"type\":\"DISMISS\"}]","adb_rem_txt":"later","adb_rem_sec":"60""#
        ),
        (
            #"{"type": "carousel", "mode": "auto", "layout": "default", "items": \#(items)}"#,
            #""adb_template_type":"car","adb_version":"1","adb_car_mode":"auto","adb_car_layout":"default","adb_items":"[{\"img\":\"i1\",\"txt\":\"t7\",\"uri\":\"u1\"},{\"img\":\"i2\"},{\"img\":\"i3\",\"uri\":\"u3\"}]""#
        ),
        (
            ##"{"type": "timer", "alternate_title": "AT", "alternate_body": "AB", "alternate_expanded_body": "AEB", "alternate_image": "AI", "timer_end": 1900000000, "timer_color": "#123456"}"##,
            #""adb_template_type":"timer","adb_version":"1","adb_title_alt":"AT","adb_body_ex_alt":"AEB","adb_image_alt":"AI","adb_body_alt":"AB","adb_tmr_end":"1900000000","adb_clr_tmr":"123456""#
        ),
        (
            #"{"type": "input_box", "receiver": "R", "hint": "H", "feedback_text": "FT", "feedback_image": "FI"}"#,
            #""adb_template_type":"input","adb_version":"1","adb_input_receiver":"R","adb_input_txt":"H","adb_feedback_txt":"FT","adb_feedback_img":"FI""#
        ),
        (
            ##"{"type": "icon_buttons", "background_color": "#000000", "items": [{"image": "a", "uri": "u", "type": "DEEPLINK"}, {"image": "b", "type": "OPENAPP"}, {"image": "c", "type": "NONE"}], "cancel_image": "x"}"##,
            #""adb_template_type":"icon","adb_version":"1","adb_clr_bg":"000000","adb_items":"[{\"img\":\"a\",\"uri\":\"u\",\"type\":\"DEEPLINK\"},{\"img\":\"b\",\"type\":\"OPENAPP\"},{\"img\":\"c\",\"type\":\"NONE\"}]","adb_cancel_image":"x""#
        ),
        (
            ##"{"type": "product_catalog", "cta_text": "Buy", "cta_uri": "b://", "cta_color": "#111111", "cta_text_color": "#222222", "display": "vertical", "items": [\##(products)]}"##,
            #""adb_template_type":"cat","adb_version":"1","adb_cta_txt":"Buy","adb_cta_uri":"b://","adb_cta_clr":"111111","adb_cta_txt_clr":"222222","adb_display":"vertical","adb_items":"[{\"title\":\"t1\",\"body\":\"b\",\"img\":\"i\",\"price\":\"1 €\",\"uri\":\"u\"},{\"title\":\"t2\",\"body\":\"b\",\"img\":\"i\",\"price\":\"1 €\",\"uri\":\"u\"},{\"title\":\"t3\",\"body\":\"b\",\"img\":\"i\",\"price\":\"1 €\",\"uri\":\"u\"}]""#
        ),
        (
            #"{"type": "rating", "unselected_icon": "u", "selected_icon": "s", "actions": \#(links)}"#,
            #""adb_template_type":"rate","adb_version":"1","adb_rate_unselected_icon":"u","adb_rate_selected_icon":"s","adb_rate_act":"[{\"uri\":\"u1\",\"type\":\"WEBURL\"},{\"type\":\"OPENAPP\"},{\"type\":\"DISMISS\"}]""#
        ),
        (
            #"{"type": "zero_bezel", "collapsed_style": "img"}"#,
            #""adb_template_type":"zb","adb_version":"1","adb_col_style":"img""#
        ),
    ]

    private let values = ["n": "7", "end": "1900000000"]

    @Test(arguments: iOS) func onIOS(template: String, keys: String) throws {
        let content = """
            {"ios": {"title": "T", "body": "B", "media_url": "m://", "click_action": "c://", "variables": {"v": 1},
            "template": \(template)}}
            """
        let rendering = try Rendering(content, .apns, values: values)
        #expect(
            rendering.text == """
                {"aps":{"alert":{"title":"T","body":"B"},"category":"AEPNotification","mutable-content":1},\(keys),\
                "adb_media":"m://","adb_uri":"c://","v":1,"_mId":"\(Rendering.uuidText)","_dId":"123"}
                """
        )
    }

    @Test(arguments: android) func onAndroid(template: String, keys: String) throws {
        let content = #"{"android": {"title": "T", "body": "B", "variables": {"v": 1}, "template": \#(template)}}"#
        for format in [PayloadFormat.fcmV1, .fcmLegacy] {
            let rendering = try Rendering(content, format, values: values)
            let data = """
                "data":{"_mId":"\(Rendering.uuidText)","_dId":"123","adb_title":"T","adb_body":"B",\(keys),"v":"1"}
                """
            let body = format == .fcmV1 ? #"{"message":{"token":"token:1",\#(data)}}"# : "{\(data)}"
            #expect(rendering.text == body)
        }
    }

    /// The guide has a row for each template with exactly its keys; the required ones are bold.
    @Test(arguments: Platform.allCases) func theGuideHasEveryTemplate(platform: Platform) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let guide = try String(contentsOf: root.appendingPathComponent("Config/content.md"), encoding: .utf8)
        for kind in RichTemplateKind.all(platform) {
            let keys = kind.keys(platform).map { key in
                var text = key.isRequired ? "**`\(key.name)`**" : "`\(key.name)`"
                if case .items(_, let count) = key.kind {
                    let upper = count.count == 1 ? "" : "–\(count.upperBound)"
                    text += " (\(count.lowerBound)\(upper))"
                }
                return text
            }
            let row = "| \(platform.rawValue) | `\(kind.rawValue)` | \(keys.joined(separator: ", ")) |\n"
            #expect(guide.contains(row), "Config/content.md lacks: \(row)")
        }
    }

    /// The keys of a notification become keys of the template, and all values are strings.
    @Test func notificationKeysBecomeKeysOfTheTemplate() throws {
        let content = """
            {"android": {"title": "T", "body": "B", "image": "IM", "icon": "I", "sound": "S", "tag": "TG", "channel_id": "CH",
            "ticker": "TI", "sticky": true, "visibility": "secret", "notification_priority": "max", "notification_count": 3,
            "click_action": "https://x", "color": "#ABCDEF", "collapse_key": "new message",
            "template": {"type": "zero_bezel"}}}
            """
        let rendering = try Rendering(content, .fcmV1)
        #expect(
            rendering.text == """
                {"message":{"token":"token:1","data":{"_mId":"\(Rendering.uuidText)","_dId":"123","adb_title":"T","adb_body":"B",\
                "adb_channel_id":"CH","adb_icon":"I","adb_sound":"S","adb_tag":"TG","adb_clr_icon":"ABCDEF",\
                "adb_uri":"https://x","adb_image":"IM","adb_ticker":"TI","adb_sticky":"true","adb_n_visibility":"SECRET",\
                "adb_n_priority":"PRIORITY_MAX","adb_n_count":"3","adb_a_type":"WEBURL","adb_template_type":"zb",\
                "adb_version":"1"},"android":{"collapse_key":"new message"}}}
                """
        )
    }

    @Test(arguments: [
        (Platform.ios, #"{}"#, ["template.type"]),
        (.ios, #"{"type": "rating"}"#, ["template.type"]),
        (.ios, #"{"type": "carousel", "items": [{"image": "x"}]}"#, ["template.items"]),
        (.ios, #"{"type": "carousel"}"#, ["template.items"]),
        (.ios, #"{"type": "timer"}"#, ["template.timer_seconds"]),
        (.ios, #"{"type": "basic", "mode": "auto"}"#, ["template.mode"]),
        (.ios, #"{"type": "basic", "title_color": "00FF00"}"#, ["template.title_color"]),
        (.android, #"{"type": "carousel", "items": [{"image": "x"}, {"image": "y"}]}"#, ["template.items"]),
        (
            .android, #"{"type": "carousel", "items": [{}, {"image": ""}, 1]}"#,
            ["template.items[0].image", "template.items[1].image", "template.items[2]"]
        ),
        (.android, #"{"type": "basic", "buttons": []}"#, ["template.buttons"]),
        (.android, #"{"type": "basic", "buttons": [{"label": "x", "type": "WEBURL"}]}"#, ["template.buttons[0].uri"]),
        (.android, #"{"type": "basic", "buttons": [{"label": "x", "type": "HTTP"}]}"#, ["template.buttons[0].type"]),
        (.android, #"{"type": "basic", "remind_text": "x"}"#, ["template.remind_at"]),
        (.android, #"{"type": "basic", "remind_at": 1900000000}"#, ["template.remind_text"]),
        (.android, #"{"type": "basic", "link_type": "WEBURL"}"#, ["click_action"]),
        (.android, #"{"type": "timer", "timer_seconds": 0, "alternate_title": "x"}"#, ["template.timer_seconds"]),
        (.android, #"{"type": "input_box"}"#, ["template.receiver"]),
        (
            .android,
            #"{"type": "rating", "unselected_icon": "u", "selected_icon": "s", "actions": [{"type": "NONE"}]}"#,
            ["template.actions"]
        ),
    ])
    func rules(platform: Platform, template: String, keys: [String]) {
        let content = #"{"\#(platform.rawValue)": {"title": "T", "body": "B", "template": \#(template)}}"#
        #expect(
            PushContent.validate(json: content).map(\.key) == keys.map { "\(platform.rawValue).\($0)" },
            "\(template)"
        )
    }

    @Test(arguments: [
        (Platform.ios, #""title": "T""#, ["body"]),
        (.ios, #""title_loc_key": "T", "loc_key": "B""#, []),
        (.ios, #""title": "T", "body": "B", "category": "other""#, ["category"]),
        (.ios, #""title": "T", "body": "B", "mutable_content": false"#, ["mutable_content"]),
        (.ios, #""title": "T", "body": "B", "push_type": "voip""#, ["push_type"]),
        (.ios, #""title": "T", "body": "B", "variables": {"adb_version": 1}"#, ["variables.adb_version"]),
        (.android, #""title_loc_key": "T", "body": "B""#, ["title_loc_key", "title"]),
        (.android, #""title": "T", "body": "B", "kind": "notification""#, ["kind"]),
        (.android, #""title": "T", "body": "B", "event_time": "2030-01-31T12:00:00Z""#, ["event_time"]),
        (.android, #""title": "T", "body": "B", "click_action": "{{u}}""#, ["template.link_type"]),
        (.android, #""title": "T", "body": "B", "variables": {"adb_title": "x"}"#, ["variables.adb_title"]),
    ])
    func surroundings(platform: Platform, entries: String, keys: [String]) {
        let content = #"{"\#(platform.rawValue)": {\#(entries), "template": {"type": "basic"}}}"#
        #expect(
            PushContent.validate(json: content).map(\.key) == keys.map { "\(platform.rawValue).\($0)" },
            "\(entries)"
        )
    }
}
