extension PayloadBuilder {
    /// Appends the complete body of an FCM v1 request.
    mutating func androidBody(_ section: ContentSection, deliveryID: Int64) {
        raw(#"{"message":{"token":""#)
        token()
        raw(#"","data":{"#)
        isCounting = true
        var isFirst = true
        ids(deliveryID, isFirst: &isFirst)
        for variable in section.variables {
            name(variable.name, isFirst: &isFirst)
            stringOfValue(variable.value)
        }
        isCounting = false
        raw("}")
        androidConfig(section)
        raw("}}")
    }

    /// Appends the object `android`, unless there is nothing to put into it.
    private mutating func androidConfig(_ section: ContentSection) {
        guard section.entries.contains(where: { $0.name != "variables" }) else { return }
        raw(#","android":{"#)
        var isFirst = true
        if let priority = section.string("priority") {
            name("priority", isFirst: &isFirst)
            raw("\"\(priority.uppercased())\"")
        }
        if let seconds = section.number("ttl_seconds") {
            name("ttl", isFirst: &isFirst)
            raw("\"\(seconds)s\"")
        }
        texts([("collapse_key", "collapse_key")], section, isFirst: &isFirst)
        notification(section, isFirst: &isFirst)
        raw("}")
    }

    private mutating func notification(_ section: ContentSection, isFirst: inout Bool) {
        guard section.text("title") != nil || section.text("body") != nil else { return }
        name("notification", isFirst: &isFirst)
        raw("{")
        isCounting = true
        let keys = ["title", "body", "channel_id", "icon", "sound", "tag", "color", "click_action", "image"]
        var isFirstOfNotification = true
        texts(keys.map { (name: $0, key: $0) }, section, isFirst: &isFirstOfNotification)
        isCounting = false
        raw("}")
    }
}
