"""A model that cannot be had or read: its name, the right to it, its files, its class."""

from typing import Final

from vramledger.diagnose.startup.error import plain, row

ROWS: Final = (
    row(
        "S40", "gated-model",
        r"gated repo|Access to model (?P<model>\S+) is restricted|You must have access to it and be authenticated|must be authenticated to access it|"
        r"(?:401|403) Client Error.*?huggingface|Cannot access gated repo for url (?P<url>\S+)|awaiting a review from the repo authors",
        plain("The model asks for consent to its terms, or for a token that may read it.", "HF_TOKEN=TOKEN, of an account that has accepted the model's terms, in the server's environment"),
        "OSError: You are trying to access a gated repo. Make sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct.",
        "huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url https://huggingface.co/x/y/resolve/main/config.json.",
        cues=("gated repo", "is restricted", "must have access to it", "must be authenticated", "client error", "awaiting a review"), rank=0,
    ),
    row(
        "S41", "model-not-found",
        r"RepositoryNotFoundError|is not a local folder and is not a valid model identifier|Repo id must (?:be in the form|use alphanumeric)|does not appear to have (?:a|any) files? named (?P<file>\S+)|"
        r"Invalid repository ID or local directory specified: '?(?P<model>[^'\s]+)|No such file or directory: '(?P<path>[^']*(?:config\.json|tokenizer\S*|\.safetensors|\.gguf))'|Can't load (?:the configuration|tokenizer)",
        plain("No model of that name or no such file is there.", "write the name as on the model's page, or the path as the server's container sees it"),
        "OSError: meta-llama/Llama-9 is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/llama'. Use `repo_type` argument if needed.",
        cues=("repositorynotfounderror", "valid model identifier", "repo id must", "does not appear to have", "invalid repository id", "no such file or directory", "can't load"), rank=1,
    ),
    row(
        "S42", "hub-not-reached",
        r"couldn't connect to 'https://huggingface|LocalEntryNotFoundError|OfflineModeIsEnabled|outgoing traffic has been disabled|Max retries exceeded with url.*?(?:huggingface|modelscope)|"
        r"huggingface\.co.*?(?:Temporary failure in name resolution|Name or service not known|timed out)|cannot find the requested files in the local cache",
        plain("The model's files are not on this machine, and the place they come from was not reached.", "fetch the model beforehand and give its folder, or HF_ENDPOINT of a mirror that can be reached"),
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
        cues=("couldn't connect to", "localentrynotfounderror", "offlinemode", "outgoing traffic", "max retries exceeded", "huggingface.co", "local cache"), rank=1,
    ),
    row(
        "S43", "architecture-not-known",
        r"[Mm]odel architectures? \[?'?(?P<arch>[\w', ]+?)'?\]? (?:are|is) not supported|The checkpoint you are trying to load has model type `?(?P<type>[\w-]+)`? but Transformers does not recogni[sz]e|"
        r"unknown model architecture: '(?P<gguf>[\w-]+)'|architectures? .{0,60} failed to be inspected|has no vLLM implementation|[Uu]nsupported (?:model )?architectures?:? \[?'?(?P<arch2>\w+)|"
        r"[Uu]nsupported model type (?P<type2>[\w-]+)",
        plain("This version of the engine does not know the model's class.", "take a newer version of the engine, one that lists the class"),
        "ValueError: Model architectures ['Qwen9ForCausalLM'] are not supported for now. Supported architectures: dict_keys(['AquilaModel'])",
        "ValueError: The checkpoint you are trying to load has model type `qwen9` but Transformers does not recognize this architecture.",
        "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'qwen9'",
        cues=("architecture", "does not recogni", "unsupported model type", "no vllm implementation"), rank=0,
    ),
    row(
        "S44", "remote-code",
        r"trust_remote_code ?= ?True|--trust-remote-code|requires you to execute the configuration file",
        plain("The model brings code of its own, which runs only when it is allowed to.", "", "trust-remote-code"),
        "ValueError: The repository for org/model contains custom code which must be executed to correctly load the model. Please pass the argument `trust_remote_code=True` to allow custom code to be run.",
        cues=("trust_remote_code", "trust-remote-code", "requires you to execute"), rank=1,
    ),
    row(
        "S45", "file-cut-short",
        r"SafetensorError|Error while deserializing header|invalid header or archive is corrupted|PytorchStreamReader failed|data is not within the file bounds|model is corrupted or incomplete|"
        r"tensor .{0,80} is corrupted|unexpected end of file|(?:invalid|bad) magic|magic (?:number )?(?:mismatch|invalid)|safetensors_rust",
        plain("A file of the weights is cut short, damaged, or but a pointer to the real one.", "fetch the model's files again and compare their sizes with its page"),
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "llama_model_load: error loading model: tensor 'blk.12.ffn_up.weight' data is not within the file bounds, model is corrupted or incomplete",
        cues=("safetensor", "deserializing header", "archive is corrupted", "pytorchstreamreader", "file bounds", "corrupted", "unexpected end of file", "magic"), rank=1,
    ),
    row(
        "S46", "weights-of-another-shape",
        r"(?:size mismatch for|shape mismatch|Attempted to load weight \(.*?\) into parameter|There is no module or parameter named '?(?P<name>[\w.]+)|KeyError: '(?P<key>[\w.]*(?:layers|experts|weight)[\w.]*)'|missing tensor '(?P<tensor>[^']+)')",
        plain("The weights are not those that this version expects for the model's class: another class, quantisation or version wrote them.", "take the version of the engine that the model's page names"),
        "ValueError: There is no module or parameter named 'lm_head.weight_scale' in Qwen3ForCausalLM",
        "KeyError: 'layers.0.mlp.experts.w13_weight_scale'",
        cues=("size mismatch", "shape mismatch", "attempted to load weight", "no module or parameter", "keyerror:", "missing tensor"), rank=1,
    ),
    row(
        "S47", "module-missing",
        r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'|ImportError: (?P<what>.*(?:undefined symbol|cannot open shared object|cannot import name).*)",
        plain("A package is missing, or was built for another version of PyTorch or CUDA.", "install the engine anew into an empty environment, or take its container image"),
        "ImportError: /usr/lib/python3/site-packages/vllm/_C.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi",
        "ModuleNotFoundError: No module named 'flash_attn'",
        cues=("modulenotfounderror", "importerror"), rank=1,
    ),
)  # fmt: skip
