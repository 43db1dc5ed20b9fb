/// The parameter `additionalParams` of a registration: a small XML document with the app's own values.
///
/// The iOS SDK writes `<additionalParams><param name="k" value="v" /></additionalParams>`, the Android SDK
/// `<additionalParameters><param name="k" value="v"/></additionalParameters>` (RegistrationManager.swift and
/// CampaignClassicMapSerializer.java of Adobe's public SDKs). Anything of this form is read, whoever wrote it: either
/// root, any quotes and white space, entities and numeric references. Nothing else is XML enough: no comments, no CDATA,
/// no document type, so that nothing can be smuggled in or blown up.
public enum AdditionalParameters {
    /// The most parameters of one registration.
    public static let maximumCount = 200

    /// Reads the document; an empty text has no parameters. Of a name that comes twice the last value counts.
    public static func parse(_ text: String) throws(AdditionalParametersError) -> [String: String] {
        var reader = AdditionalParametersReader(Array(text.utf8))
        return try reader.document()
    }
}
