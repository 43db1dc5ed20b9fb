extension ContentValidator {
    /// APNs takes collapse ids of at most 64 bytes (Apple, "Sending notification requests to APNs").
    static let longestCollapseID = 64

    /// Checks what several keys of a section say together.
    mutating func checkWhole(_ section: ContentSection) {
        switch section.platform {
        case .ios: checkIOS(section)
        case .android: checkAndroid(section)
        }
    }

    private mutating func checkIOS(_ section: ContentSection) {
        let visible = ["title", "subtitle", "body", "badge", "sound"]
        if !section.hasAny(visible + ["content_available"]) {
            add(
                "ios",
                "there is nothing to show and nothing to wake the app for",
                "set one of \(visible.joined(separator: ", ")), or content_available for a silent push"
            )
        }
        if let collapseID = section.text("collapse_id")?.literalText, collapseID.utf8.count > Self.longestCollapseID {
            add(
                "ios.collapse_id",
                "it has \(collapseID.utf8.count) bytes",
                "shorten it to \(Self.longestCollapseID) bytes, which is what APNs takes"
            )
        }
        guard section.string("push_type") == PushType.background.rawValue else { return }
        if section.hasAny(visible) {
            add(
                "ios.push_type",
                "a background push shows nothing, and this content does",
                "write \"alert\", or leave it out"
            )
        }
        if !section.isTrue("content_available") {
            add("ios.push_type", "a background push has to wake the app", "set content_available to true")
        }
        if let priority = section.number("priority"), priority == "10" {
            add("ios.priority", "APNs refuses background pushes with priority 10", "write 5, or leave it out")
        }
    }

    private mutating func checkAndroid(_ section: ContentSection) {
        let display = ["channel_id", "icon", "sound", "tag", "color", "click_action", "image"]
        if !section.hasAny(["title", "body"]), let key = display.first(where: { section[$0] != nil }) {
            add(
                "android.\(key)",
                "a message without title and body is a data message, which shows nothing",
                "set title or body, or move it into variables"
            )
        }
        if let color = section.text("color")?.literalText, !Self.isColor(color) {
            add("android.color", "\"\(color.prefix(64))\" is not a color", "write it as #rrggbb")
        }
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
            && text.utf8.dropFirst().allSatisfy { HexDigit.value($0) != nil }
    }
}
