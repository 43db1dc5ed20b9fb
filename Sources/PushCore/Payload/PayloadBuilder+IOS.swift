extension PayloadBuilder {
    /// Appends the body of an APNs request.
    mutating func iosBody(_ section: ContentSection, deliveryID: Int64) {
        raw(#"{"aps":{"#)
        var isFirst = true
        alert(section, isFirst: &isFirst)
        number("badge", section.number("badge"), isFirst: &isFirst)
        texts(
            [
                ("sound", "sound"), ("category", "category"), ("thread-id", "thread_id"),
                ("target-content-id", "target_content_id"),
            ],
            section,
            isFirst: &isFirst
        )
        number("mutable-content", section.isTrue("mutable_content") ? "1" : nil, isFirst: &isFirst)
        number("content-available", section.isTrue("content_available") ? "1" : nil, isFirst: &isFirst)
        texts([("interruption-level", "interruption_level")], section, isFirst: &isFirst)
        number("relevance-score", section.number("relevance_score"), isFirst: &isFirst)
        raw("}")
        var isFirstOfBody = false
        for variable in section.variables {
            name(variable.name, isFirst: &isFirstOfBody)
            value(variable.value)
        }
        ids(deliveryID, isFirst: &isFirstOfBody)
        raw("}")
    }

    /// Appends `_mId` and `_dId`, both strings.
    mutating func ids(_ deliveryID: Int64, isFirst: inout Bool) {
        name(PayloadTemplate.messageIDKey, isFirst: &isFirst)
        raw("\"")
        messageID()
        raw("\"")
        name(PayloadTemplate.deliveryIDKey, isFirst: &isFirst)
        let text = DeliveryID.hexText(deliveryID)
        raw("\"\(text)\"")
        if isCounting { countedBytes += text.utf8.count }
    }

    /// Appends those of the texts that the section has, each under its name in the payload.
    mutating func texts(_ names: [(name: String, key: String)], _ section: ContentSection, isFirst: inout Bool) {
        for (name, key) in names {
            guard let text = section.text(key) else { continue }
            self.name(name, isFirst: &isFirst)
            string(text)
        }
    }

    private mutating func alert(_ section: ContentSection, isFirst: inout Bool) {
        let names = [("title", "title"), ("subtitle", "subtitle"), ("body", "body"), ("launch-image", "launch_image")]
        guard names.contains(where: { section.text($0.1) != nil }) else { return }
        name("alert", isFirst: &isFirst)
        raw("{")
        var isFirstOfAlert = true
        texts(names.map { (name: $0.0, key: $0.1) }, section, isFirst: &isFirstOfAlert)
        raw("}")
    }

    private mutating func number(_ name: String, _ digits: String?, isFirst: inout Bool) {
        guard let digits else { return }
        self.name(name, isFirst: &isFirst)
        raw(digits)
    }
}
