extension ContentValidator {
    /// Checks what APNs would refuse, or what would be lost on the way, by the type of push.
    mutating func checkPushType(_ type: PushType, _ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        switch type {
        case .background: checkBackground(layout, section, path)
        case .liveactivity: checkLiveActivity(layout.aps, section, path)
        case .widgets, .controls:
            if layout.aps["content-changed"] == nil {
                add(
                    "\(path).aps",
                    "a push of type \(type.rawValue) says that something has changed",
                    #"write {"content-changed": true}"#
                )
            }
        case .pushtotalk:
            if let priority = section.number("priority"), priority != "10" {
                add("\(path).priority", "APNs takes push-to-talk with priority 10 only", "leave it out")
            }
            if let seconds = section.number("expiration_seconds"), seconds != "0" {
                add("\(path).expiration_seconds", "APNs does not keep push-to-talk", "write 0, or leave it out")
            }
        case .alert, .location, .voip, .complication, .fileprovider: break
        }
        if section.has("template"), type != .alert {
            add("\(path).push_type", "a rich template is shown, so its push is an alert", "leave it out")
        }
    }

    private mutating func checkBackground(_ layout: APNsLayout, _ section: ContentSection, _ path: String) {
        if layout.isVisible, !section.isTrue("silent") {
            add(
                "\(path).push_type",
                "a background push shows nothing, and this content does",
                "write \"alert\", or leave it out"
            )
        }
        if !layout.wakesApp, layout.isVisible || section.has("push_type") {
            add("\(path).push_type", "a background push has to wake the app", "set content_available to true")
        }
        if section.number("priority") == "10" {
            add("\(path).priority", "APNs refuses background pushes with priority 10", "write 5, or leave it out")
        }
    }

    /// Apple, "Starting and updating Live Activities with ActivityKit push notifications".
    private mutating func checkLiveActivity(_ aps: PayloadNode, _ section: ContentSection, _ path: String) {
        let path = "\(path).aps"
        let event = aps["event"]?.literalText
        if aps["event"] == nil || event.map(["start", "update", "end"].contains) == false {
            add("\(path).event", "a Live Activity starts, updates or ends", "write start, update or end")
        }
        if aps["timestamp"] == nil {
            add("\(path).timestamp", "it is missing", "write the time of the change in seconds since 1970")
        }
        var needed: [String] = []
        if event == "start" { needed = ["attributes-type", "attributes", "alert"] }
        if event == "start" || event == "update" { needed.append("content-state") }
        for key in needed where aps[key] == nil {
            add("\(path).\(key)", "a Live Activity cannot \(event ?? "start") without it", "write it")
        }
        if section.number("priority") == "1" {
            add("\(path.dropLast(4)).priority", "APNs takes Live Activities with priority 10 or 5", "write 10 or 5")
        }
    }
}

extension PayloadNode {
    /// The text when it is the same for everyone, else nil.
    var literalText: String? {
        if case .text(let template) = self { template.literalText } else { nil }
    }
}
